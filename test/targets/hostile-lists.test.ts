import { describe, expect, it } from 'vitest';
import { scanFields } from '../../src/capture/work/scan.ts';
import { readEntry } from '../../src/targets/entry.ts';
import { readList } from '../../src/targets/read-list.ts';

const MAX_TARGETS = 1_000_000;

async function read(parts: readonly string[]) {
  async function* bytes(): AsyncGenerator<Uint8Array> {
    for (const part of parts) yield Buffer.from(part);
  }
  const entries = readList(bytes(), { expansion: {}, maxTargets: MAX_TARGETS });
  const texts: string[] = [];
  for (;;) {
    const step = await entries.next();
    if (step.done === true) return { texts, report: step.value };
    texts.push(...step.value.map(({ text }) => text));
  }
}

describe('a hostile list', () => {
  it('is refused when its text, with that of its sitemaps, is too long', async () => {
    async function* text(characters: number): AsyncGenerator<Uint8Array> {
      yield Buffer.from('<urlset>');
      for (let at = 0; at < characters; at += 100) yield Buffer.from(' '.repeat(100));
      yield Buffer.from('</urlset>');
    }
    const sizeOf = async (first: number, second: number) => {
      async function* list(): AsyncGenerator<Uint8Array> {
        yield Buffer.from('sitemap: http://a.test/1\nsitemap: http://a.test/2\n');
      }
      const openSitemap = (url: string) => text(url.endsWith('1') ? first : second);
      const options = { expansion: {}, maxTargets: MAX_TARGETS, maxCharacters: 1000, openSitemap };
      return (await Array.fromAsync(readList(list(), options))).flat();
    };
    expect(await sizeOf(400, 400)).toEqual([]);
    await expect(sizeOf(400, 600)).rejects.toMatchObject({ code: 'payload_too_large' });
  });

  it('has no target that is longer than a URL may be', () => {
    expect(readEntry('a@'.repeat(100_000))).toEqual({ problem: 'has more than 8192 characters' });
    expect(readEntry('user@host.test:8443/')).toMatchObject({ kind: 'host', host: 'host.test', port: 8443 });
    expect(readEntry('[2001:db8::1]:8443')).toMatchObject({ kind: 'host', host: '[2001:db8::1]', port: 8443 });
  });

  it('is not read as a table when its first line has more than 16 KiB', async () => {
    const { report } = await read([`url,${'x,'.repeat(8 * 1024)}\n`, 'https://a.test/\n']);
    expect(report).toMatchObject({ form: 'lines', targets: 1, left_out: { invalid: 1 } });
  });

  it('is read no further when a line of its table has more than 256 Ki separators', async () => {
    const { report } = await read(['url,name\nhttps://a.test/,a\n', ...Array(8).fill(','.repeat(64 * 1024))]);
    expect(report).toMatchObject({ form: 'csv', left_out: { unfinished: 1 } });
    expect(report.problems[0]?.problem).toContain('a line has more than 262144 characters');
  });

  it('is read no further when its XML has text without an end', async () => {
    const piece = 'x'.repeat(256 * 1024);
    const { report } = await read(['<nmaprun><host><address addr="192.0.2.1"/><!--', ...Array(8).fill(piece)]);
    expect(report.problems[0]?.problem).toContain('has more than a million characters without a tag');
  });

  it('gives no networks and hosts by a sitemap, whose author is another', async () => {
    const locs = ['https://site.test/a', '198.51.100.0/24', 'victim.test:22', 'sitemap:http://other.test/'];
    const { texts, report } = await read([
      `<urlset>${locs.map((loc) => `<url><loc>${loc}</loc></url>`).join('')}</urlset>`,
    ]);
    expect(texts).toEqual(['https://site.test/a']);
    expect(report.left_out).toEqual({ invalid: 3 });
  });

  it('fails when its table breaks off, and ends no process', async () => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield Buffer.from(`url\n${'a.test\n'.repeat(20_000)}`);
      throw new Error('the client has gone');
    }
    const reading = Array.fromAsync(readList(broken(), { expansion: {}, maxTargets: MAX_TARGETS }));
    await expect(reading).rejects.toThrow('the client has gone');
  });

  it('names each port once: ranges that overlap are counted before they are added', () => {
    const overlapping = Array(1000).fill('1-65535').join(',');
    expect(scanFields.ports.safeParse(overlapping).error?.issues[0]?.message).toContain('at most 65535 ports');
    expect(scanFields.ports.parse('80,443,8000-8002')).toEqual([80, 443, 8000, 8001, 8002]);
  });
});
