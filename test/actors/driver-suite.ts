import { describe, expect, it } from 'vitest';
import type { CaptureOptions } from '../../src/capture/request.ts';
import type { Snapshot } from '../../src/capture/snapshot.ts';
import { failureOf, patience } from '../support/actor.ts';
import { captureRequest } from '../support/capture-request.ts';
import { freePort } from '../support/free-port.ts';
import { numbersOf, type Pixels, pixelsOf } from '../support/image.ts';
import { siteAndActor } from '../support/site-and-actor.ts';

/** Defines the tests that captures by both drivers must pass. The options `asks` select the driver `name`. */
export function describeDriver(name: string, asks: CaptureOptions): void {
  describe(`a capture by ${name}`, () => describeCaptures(asks));
}

function describeCaptures(asks: CaptureOptions): void {
  const ground = siteAndActor();

  const capture = (path: string, overrides: CaptureOptions = {}, signal = patience): Promise<Snapshot> =>
    ground.running.actor.capture(
      captureRequest(URL.canParse(path) ? path : ground.site.url(path), { ...asks, ...overrides }),
      signal,
    );

  it('returns the screenshot, the document and the response of a page', async () => {
    const snapshot = await capture('/short');
    expect(snapshot).toMatchObject({
      finalUrl: ground.site.url('/short'),
      title: 'A small port with deep water · Port of Lindholm',
      responseCode: 200,
      responseReason: 'OK',
      contentType: 'text/html',
      width: 1280,
      height: 720,
      truncated: false,
      cutPhase: null,
      remoteIp: '127.0.0.1',
    });
    const page = await (await fetch(ground.site.url('/short'))).text();
    expect(snapshot.contentLength).toBe(Buffer.byteLength(page));
    expect(snapshot.html).toContain('<!DOCTYPE html>');
    expect(snapshot.html).toContain('</html>');
    const png = await pixelsOf(snapshot.image);
    expect([png.width, png.height]).toEqual([1280, 720]);
    expect(coloursOf(png).size).toBeGreaterThan(50);
  });

  it('captures the whole page with fullPage, from its first row to its last', async () => {
    const snapshot = await capture('/fullpage-marker', { fullPage: true });
    expect(snapshot).toMatchObject({ width: 1280, height: 3000, truncated: false });
    const png = await pixelsOf(snapshot.image);
    expect(png.height).toBe(3000);
    expect(pixel(png, 640, 50)).toEqual([255, 0, 128]);
    expect(pixel(png, 640, 1500)).toEqual([255, 255, 255]);
    expect(pixel(png, 640, 2950)).toEqual([0, 200, 80]);
  });

  it.each([
    ['png', 20_000, ''],
    ['jpeg', 20_000, ''],
    ['webp', 16_383, 'format'],
  ] as const)('captures as much of a page of 20,000 px as a %s can hold', async (format, height, truncatedBy) => {
    const snapshot = await capture('/endless-height', { fullPage: true, format, timeoutMs: 60_000 });
    expect(snapshot).toMatchObject({ height, fullHeight: 20_000, truncatedBy, truncated: truncatedBy !== '' });
    expect(dimensions(snapshot.image)).toEqual([snapshot.width, snapshot.height]);
  });

  it.each([
    ['png', '89504e47'],
    ['jpeg', 'ffd8ff'],
    ['webp', '52494646'],
  ] as const)('takes a screenshot as %s', async (format, magic) => {
    const { image } = await capture('/short', { format });
    expect(Buffer.from(image).toString('hex')).toMatch(new RegExp(`^${magic}`));
    expect(dimensions(image)).toEqual([1280, 720]);
  });

  it('returns smaller files at a lower quality', async () => {
    const [poor, good] = await Promise.all([
      capture('/medium', { format: 'jpeg', quality: 10 }),
      capture('/medium', { format: 'jpeg', quality: 95 }),
    ]);
    expect(poor.image.byteLength).toBeLessThan(good.image.byteLength / 2);
  });

  it.each([
    ['/404', 404, 'Not Found'],
    ['/500', 500, 'Internal Server Error'],
  ])('captures %s with the status of its response', async (path, responseCode, responseReason) => {
    expect(await capture(path)).toMatchObject({ responseCode, responseReason });
  });

  it.each(['/redirect', '/meta-refresh', '/js-redirect'])('follows %s to its target', async (path) => {
    const snapshot = await capture(path);
    expect(snapshot).toMatchObject({ finalUrl: ground.site.url('/short'), cutPhase: null });
    expect(snapshot.title).toContain('A small port');
  });

  // Captures that mostly wait for their deadlines.
  it.concurrent('waits for a late image', async () => {
    const [late, blank] = await Promise.all([
      capture('/slow-image?ms=600'),
      capture('/slow-image?ms=60000', { timeoutMs: 20_000 }),
    ]);
    expect(late.cutPhase).toBeNull();
    expect(blank.cutPhase).toBe('load');
    expect(coloursOf(await pixelsOf(late.image)).size).toBeGreaterThan(coloursOf(await pixelsOf(blank.image)).size);
  });

  it.concurrent('captures what is there of a page that never finishes loading', async () => {
    const snapshot = await capture('/never', { timeoutMs: 20_000 });
    expect(snapshot).toMatchObject({ cutPhase: 'load', title: 'A page that never ends', responseCode: 200 });
    expect(snapshot.html).toContain('There is more to come');
  });

  it.concurrent.each([
    ['/loop', /^(?:wait|settle)$/],
    ['/loop?when=parse', /^load$/],
  ])('ends the scripts of %s, and captures what is there', async (path, phase) => {
    // Of these, 4 s are kept for ending the scripts and for the screenshot: enough on a busy machine.
    const { cutPhase, title } = await capture(path, { timeoutMs: 20_000 });
    expect(cutPhase).toMatch(phase);
    expect(title).toBe('A page that spins');
  });

  it.concurrent('captures what is there of a page that reloads itself again and again', async () => {
    const snapshot = await capture('/reload-loop', { timeoutMs: 20_000 });
    expect(snapshot).toMatchObject({ title: 'A page that cannot rest', width: 1280 });
    expect(snapshot.html).toContain('<h1>Again</h1>');
  });

  it.concurrent('times out for a target that never answers, and names the phase', async () => {
    const error = await failureOf(capture('/hang', { timeoutMs: 3000 }));
    expect(error.code).toBe('capture_timeout');
    expect(error.message).toBe('nothing could be captured within 3000 ms (open the URL)');
  });

  it('dismisses dialogs, and records each of them once', async () => {
    const { html, evidence } = await capture('/dialog');
    expect(html).toContain('confirmed: false');
    expect(evidence.dialogs).toEqual({
      items: [
        { type: 'alert', message: 'An alert' },
        { type: 'confirm', message: 'Are you sure?' },
      ],
      omitted: 0,
    });
  });

  it('opens no popups', async () => {
    expect((await capture('/popup')).title).toBe('popup: blocked');
  });

  it('decodes a document in its own encoding', async () => {
    expect((await capture('/latin1')).title).toBe('Café à Málaga');
  });

  it('returns a title with any characters', async () => {
    const title = '漢字 🏗️ "quoted" <b>';
    expect((await capture(`/title?t=${encodeURIComponent(title)}`)).title).toBe(title);
  });

  it('leaves nothing for the next capture: no cookies, no storage', async () => {
    for (let visit = 0; visit < 2; visit += 1) {
      expect((await capture('/cookie')).title).toBe('cookies: none');
      expect((await capture('/storage')).title).toBe('visits: 1');
    }
  });

  it('reports why a target is unreachable', async () => {
    const port = await freePort();
    const refused = await failureOf(capture(`http://127.0.0.1:${port}/`));
    expect(refused.code).toBe('target_unreachable');
    expect(refused.message).toMatch(new RegExp(`refused.*127\\.0\\.0\\.1:${port}`));
    const unknown = await failureOf(capture('http://no-such-name.invalid/'));
    expect(unknown.code).toBe('target_unreachable');
    expect(unknown.message).toContain('no-such-name.invalid');
    const empty = await failureOf(capture('/empty-response'));
    expect(empty.code).toBe('target_unreachable');
    expect(empty.message).toMatch(/closed the connection without an/);
    const loop = await failureOf(capture('/redirect-loop'));
    expect(loop.code).toBe('target_unreachable');
    expect(loop.message).toContain('redirects too many times');
    const plain = await failureOf(capture(ground.site.url('/short').replace('http:', 'https:')));
    expect(plain.code).toBe('target_unreachable');
    expect(plain.message).toContain('does not speak TLS');
  });

  it.each(['/redirect?to=', '/redirect?status=307&to='])(
    'refuses a forbidden address that a redirect leads to: %s…',
    async (path) => {
      const error = await failureOf(capture(`${path}${encodeURIComponent('http://127.0.0.2:8080/')}`));
      expect(error.code).toBe('target_forbidden');
      expect(error.message).toContain('127.0.0.2');
    },
  );

  it('cancels a capture by its signal, before and while it runs', async () => {
    expect((await failureOf(capture('/short', {}, AbortSignal.abort()))).code).toBe('cancelled');
    const controller = new AbortController();
    const hits = ground.site.hits('/hang');
    const hanging = failureOf(capture('/hang?cancel', {}, controller.signal));
    await expect.poll(() => ground.site.hits('/hang')).toBeGreaterThan(hits);
    controller.abort();
    expect((await hanging).code).toBe('cancelled');
  });

  it('frees the slot of a capture however the capture ends', async () => {
    await Promise.allSettled([
      capture('/short'),
      capture('/hang', { timeoutMs: 300 }),
      capture('/empty-response'),
      capture('/short', {}, AbortSignal.timeout(50)),
    ]);
    await expect.poll(() => ground.running.actor.stats().busy).toBe(0);
  });
}

function pixel(png: Pixels, x: number, y: number): number[] {
  const at = (y * png.width + x) * 4;
  return [...png.data.subarray(at, at + 3)];
}

function coloursOf(png: Pixels): Set<number> {
  return new Set(numbersOf(png));
}

/** Returns width and height from the header of an image file. */
function dimensions(image: Uint8Array): [number, number] {
  const bytes = Buffer.from(image);
  if (bytes.readUInt32BE(0) === 0x89504e47) return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
  if (bytes.toString('latin1', 8, 12) === 'WEBP') return webpDimensions(bytes);
  // JPEG: the first frame header, after the segments before it.
  let at = 2;
  while (bytes[at] === 0xff && !(Number(bytes[at + 1]) >= 0xc0 && Number(bytes[at + 1]) <= 0xc2)) {
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  return [bytes.readUInt16BE(at + 7), bytes.readUInt16BE(at + 5)];
}

function webpDimensions(bytes: Buffer): [number, number] {
  const kind = bytes.toString('latin1', 12, 16);
  if (kind === 'VP8 ') return [bytes.readUInt16LE(26) & 0x3fff, bytes.readUInt16LE(28) & 0x3fff];
  if (kind === 'VP8X') return [bytes.readUIntLE(24, 3) + 1, bytes.readUIntLE(27, 3) + 1];
  const bits = bytes.readUInt32LE(21);
  return [(bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1];
}
