import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { CapstanError } from '../../src/capture/errors.ts';
import { listed, pieces } from './lists.ts';

/* Files of tools, written after their documented formats. */

const port = (id: number, state: string, service: string) =>
  `<port protocol="tcp" portid="${id}"><state state="${state}" reason="syn-ack" reason_ttl="64"/>${service}</port>`;

const NMAP_5 = `<?xml version="1.0"?>
<?xml-stylesheet href="file:///usr/share/nmap/nmap.xsl" type="text/xsl"?>
<nmaprun scanner="nmap" args="nmap -sV -oX - 192.0.2.7" start="1" version="5.21" xmloutputversion="1.03">
<scaninfo type="syn" protocol="tcp" numservices="1000" services="1-1000"/>
<host starttime="1" endtime="2"><status state="up" reason="echo-reply"/>
<address addr="192.0.2.7" addrtype="ipv4" /><address addr="00:00:5E:00:53:01" addrtype="mac" vendor="Example" />
<hostnames><hostname name="ptr.example" type="PTR" /></hostnames>
<ports><extraports state="closed" count="996"><extrareasons reason="resets" count="996"/></extraports>
${port(22, 'open', '<service name="ssh" product="OpenSSH" method="probed" conf="10" />')}
${port(80, 'open', '<service name="http" product="nginx" method="probed" conf="10" />')}
${port(443, 'open', '<service name="http" product="nginx" tunnel="ssl" method="probed" conf="10" />')}
${port(631, 'filtered', '<service name="ipp" method="table" conf="3" />')}
</ports></host>
<runstats><finished time="2"/><hosts up="1" down="0" total="1" /></runstats></nmaprun>`;

const NMAP_7 = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE nmaprun>
<nmaprun scanner="nmap" args="nmap -oX - shop.example 2001:db8::7" version="7.95" xmloutputversion="1.05">
<hosthint><status state="up" reason="unknown-response" reason_ttl="0"/><address addr="192.0.2.99" addrtype="ipv4"/></hosthint>
<host><status state="up" reason="syn-ack" reason_ttl="0"/><address addr="192.0.2.8" addrtype="ipv4"/>
<hostnames><hostname name="shop.example" type="user"/><hostname name="ptr.example" type="PTR"/></hostnames>
<ports>${port(443, 'open', '<service name="https" method="table" conf="3"/>')}
${port(8080, 'open', '<service name="http-proxy" method="table" conf="3"/>')}
${port(8443, 'open', '<service name="https-alt" method="table" conf="3"/>')}
${port(8000, 'open', '<service name="http-alt" method="table" conf="3"/>')}
${port(9000, 'closed', '<service name="http" method="probed" conf="10"/>')}
${port(53, 'open', '')}</ports></host>
<host><status state="up"/><address addr="2001:db8::7" addrtype="ipv6"/><hostnames></hostnames>
<ports>${port(80, 'open', '<service name="ssl/http" method="probed" conf="10"/>')}</ports></host>
<host><status state="down" reason="no-response"/><address addr="192.0.2.9" addrtype="ipv4"/></host>
</nmaprun>`;

describe('the XML of nmap', () => {
  it('gives open ports with an http service: by address, with the scheme that the service speaks', async () => {
    const { urls, report } = await listed(NMAP_5);
    expect(urls).toEqual(['http://192.0.2.7/', 'https://192.0.2.7/']);
    expect(report).toEqual({ form: 'nmap', targets: 2, left_out: { other_service: 1, closed_port: 1 }, problems: [] });
  });

  it('gives a host by the name under which it was scanned, and by no other', async () => {
    const { urls, report } = await listed(NMAP_7);
    expect(urls).toEqual([
      'https://shop.example/',
      'http://shop.example:8080/',
      'https://shop.example:8443/',
      'http://shop.example:8000/',
      'https://[2001:db8::7]:80/',
    ]);
    expect(report.left_out).toEqual({ closed_port: 1, other_service: 1, host_down: 1 });
  });

  it('gives what an unfinished file has, and says that it is unfinished', async () => {
    const { urls, report } = await listed(NMAP_7.slice(0, NMAP_7.indexOf('2001:db8::7" addrtype')));
    expect(urls).toHaveLength(4);
    expect(report.problems).toEqual([
      { line: 13, text: '', problem: 'the file ends before its scan did: a last host may be missing' },
    ]);
    // Of a host that was broken off it has the ports that are complete.
    const inPort = NMAP_7.indexOf('<service name="https-alt"');
    expect((await listed(NMAP_7.slice(0, inPort))).urls).toEqual(urls.slice(0, 2));
  });

  it('gives the hosts of several files that were joined', async () => {
    const { urls, report } = await listed(`${NMAP_5}\n${NMAP_7}\n`);
    expect(urls).toHaveLength(7);
    expect(report.problems).toEqual([]);
  });

  it.each([
    ['after a port', '\n</ports>'],
    ['in a port', '<service name="http" product="nginx" tunnel'],
  ])('gives the complete ports of a file that was broken off %s and joined to another', async (_, from) => {
    const broken = NMAP_5.slice(0, NMAP_5.indexOf(from));
    const { urls: alone } = await listed(broken);
    expect(alone).not.toEqual([]);
    for (const next of [NMAP_7, NMAP_7.slice(NMAP_7.indexOf('<host>')).replace('</nmaprun>', '')]) {
      const { urls, report } = await listed(`${broken}\n${next}`);
      expect(urls).toEqual([...alone, ...(await listed(NMAP_7)).urls]);
      expect(report.left_out).toMatchObject({ unfinished: 1 });
    }
  });

  it('gives the complete ports of the host in which a mistake in the XML is', async () => {
    const { urls, report } = await listed(`${NMAP_5.slice(0, NMAP_5.indexOf('\n</ports>'))}<a <b>`);
    expect(urls).toEqual(['http://192.0.2.7/', 'https://192.0.2.7/']);
    expect(report.problems).toMatchObject([{ problem: expect.stringContaining('is not XML from here on') }]);
  });

  it.each([
    ['whole', NMAP_5],
    ['unfinished', NMAP_5.slice(0, NMAP_5.indexOf('\n<runstats'))],
  ])('names a sitemap that was joined to a file that is %s', async (_, list) => {
    const padded = list.replace('<ports>', `<!--${' '.repeat(64 * 1024)}--><ports>`);
    const { urls, report } = await listed(`${padded}\n<urlset><url><loc>https://a.example/</loc></url></urlset>`);
    expect(urls).toEqual(['http://192.0.2.7/', 'https://192.0.2.7/']);
    expect(report.problems[0]).toMatchObject({ text: '<urlset>', problem: expect.stringContaining('of its own') });
  });

  it('follows no entity and no reference', async () => {
    const evil = NMAP_5.replace(
      '<nmaprun',
      '<!DOCTYPE nmaprun [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;"><!ENTITY f SYSTEM "file:///etc/hostname">]><nmaprun',
    ).replace('addr="192.0.2.7"', 'addr="192.0.2.7" title="&b;&f;"');
    expect((await listed(evil)).urls).toEqual(['http://192.0.2.7/', 'https://192.0.2.7/']);
  });

  it('gives what comes before a mistake in the XML, and names its line', async () => {
    const { urls, report } = await listed(`${NMAP_5.slice(0, NMAP_5.indexOf('<runstats'))}\n<a <b>`);
    expect(urls).toHaveLength(2);
    expect(report.problems).toMatchObject([{ problem: expect.stringContaining('is not XML from here on') }]);
  });
});

describe('the JSON of masscan', () => {
  const record = (ip: string, of: object) =>
    `{   "ip": "${ip}",   "timestamp": "1700000000", "ports": [ ${JSON.stringify(of)} ] }`;
  const open = (id: number) => ({ port: id, proto: 'tcp', status: 'open', reason: 'syn-ack', ttl: 64 });

  it('gives open TCP ports', async () => {
    const udp = { port: 53, proto: 'udp', status: 'open' };
    const text = `[\n${[record('192.0.2.7', open(80)), record('192.0.2.7', open(8443)), record('2001:db8::1', open(443)), record('192.0.2.8', udp)].join('\n,\n')}\n]\n`;
    const { urls, report } = await listed(text);
    expect(urls).toEqual(['http://192.0.2.7/', 'https://192.0.2.7:8443/?', 'https://[2001:db8::1]/']);
    expect(report).toMatchObject({ form: 'masscan', targets: 3, left_out: { other_service: 1 } });
  });

  it('reads files of older versions, with a comma too many and an end that is not JSON, and unfinished ones', async () => {
    const older = `[\n${record('192.0.2.7', open(80))},\n${record('192.0.2.8', open(80))},\n{finished: 1}\n]`;
    expect((await listed(older)).urls).toEqual(['http://192.0.2.7/', 'http://192.0.2.8/']);
    const { urls, report } = await listed(older.slice(0, older.indexOf('192.0.2.8') + 30));
    expect(urls).toEqual(['http://192.0.2.7/']);
    expect(report.left_out).toEqual({ invalid: 1 });
  });

  it('reads an array that was formatted by another tool', async () => {
    const text = JSON.stringify([{ ip: '192.0.2.7', ports: [open(80), open(81)] }], null, 4);
    expect((await listed(text)).urls).toEqual(['http://192.0.2.7/', 'https://192.0.2.7:81/?']);
  });
});

describe('a sitemap', () => {
  const sitemap = `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
<url><loc>https://a.example/?a=1&amp;b=2</loc><image:image><image:loc>https://a.example/i.png</image:loc></image:image></url>
<url><loc><![CDATA[https://a.example/b]]></loc><lastmod>2026-01-01</lastmod></url><url><loc/></url></urlset>`;

  it('gives its pages, and not their images', async () => {
    const { urls, report } = await listed(sitemap);
    expect(urls).toEqual(['https://a.example/?a=1&b=2', 'https://a.example/b']);
    expect(report).toMatchObject({ form: 'sitemap', targets: 2, left_out: { no_url: 1 } });
  });

  it('may be compressed', async () => {
    expect((await listed(gzipSync(sitemap))).urls).toHaveLength(2);
  });

  it.each([
    ['after it', `${sitemap}${NMAP_7}`],
    ['before it', `${NMAP_5}${sitemap}`],
    ['after it, broken off', `${sitemap.replace('</urlset>', '')}${NMAP_7}`],
  ])('names the file of nmap that was joined to it: %s', async (_, list) => {
    const { urls, report } = await listed(list.replace(/<!\[CDATA\[(.*?)\]\]>/, '$1'));
    expect(urls).toEqual(['https://a.example/?a=1&b=2', 'https://a.example/b']);
    expect(report.problems[0]).toMatchObject({ text: '<nmaprun>', problem: expect.stringContaining('of its own') });
  });

  it('is read as far as it inflates within bounds', async () => {
    const bomb = gzipSync(`${sitemap.replace('</urlset>', '')}${'<a/>'.repeat(5 * 1024 * 1024)}</urlset>`);
    const { urls, report } = await listed(bomb);
    expect(urls).toHaveLength(2);
    expect(report.problems[0]?.problem).toContain('inflates to more than 100 times its size');
  });

  it('leads to the sitemaps of an index, compressed ones too, and names those that cannot be read', async () => {
    const index = (...urls: readonly string[]) =>
      `<sitemapindex>${urls.map((url) => `<sitemap><loc>${url}</loc></sitemap>`).join('')}</sitemapindex>`;
    const files = new Map<string, string | Uint8Array>([
      ['https://a.example/1.xml.gz', gzipSync(sitemap)],
      ['https://a.example/2.xml', '<urlset><url><loc>https://a.example/c</loc></url></urlset>'],
      ['https://a.example/again.xml', index('https://a.example/again.xml')],
    ]);
    async function* open(url: string): AsyncGenerator<Uint8Array, void, undefined> {
      const file = files.get(url);
      if (file === undefined) throw new CapstanError('target_unreachable', 'HTTP status 404');
      yield* pieces(Buffer.from(file));
    }
    const list = index(...files.keys());
    const { urls, report } = await listed(list, {}, open);
    expect(urls).toEqual(['https://a.example/?a=1&b=2', 'https://a.example/b', 'https://a.example/c']);
    expect(report.left_out).toEqual({ no_url: 1, unread_sitemap: 1 });
    const { report: missing } = await listed('a.example\nSitemap: https://b.example/', {}, open);
    expect(missing.problems).toEqual([
      { line: 2, text: 'https://b.example/', problem: 'cannot be read: HTTP status 404' },
    ]);
  });
});

describe('CSV', () => {
  it('gives the column url or urls, whatever the separator and the quotes', async () => {
    expect((await listed('name,URL,x\r\n"a, b","https://a.example/",1\r\nc,,2\r\nd,d.example,3\r\n')).urls).toEqual([
      'https://a.example/',
      'https://d.example/?',
    ]);
    const { urls, report } = await listed('urls;"name"\n"a.example b.example";x\nc d\n');
    expect(urls).toEqual(['https://a.example/?', 'https://b.example/?', 'https://c/?', 'https://d/?']);
    expect(report.form).toBe('csv');
  });
});
