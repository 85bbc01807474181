import { expect, it } from 'vitest';
import { failureOf } from '../support/actor.ts';
import { freePort } from '../support/free-port.ts';
import { type DriverGround, describeDriver } from './driver-suite.ts';

describeDriver('the direct driver', {}, describeMore);

function describeMore({ site, capture }: DriverGround): void {
  it.each([
    ['png', 20_000, ''],
    ['jpeg', 20_000, ''],
    ['webp', 16_383, 'format'],
  ] as const)('captures as much of a page of 20,000 px as a %s can hold', async (format, height, truncatedBy) => {
    const viewport = { width: 320, height: 720 };
    const snapshot = await capture('/endless-height', { fullPage: true, format, viewport });
    expect(snapshot).toMatchObject({ height, fullHeight: 20_000, truncatedBy, truncated: truncatedBy !== '' });
    expect(dimensions(snapshot.image)).toEqual([snapshot.width, snapshot.height]);
  });

  it('takes a screenshot in each format, and smaller files at a lower quality', async () => {
    const [poor, good, webp] = await Promise.all([
      capture('/medium', { format: 'jpeg', quality: 10 }),
      capture('/medium', { format: 'jpeg', quality: 95 }),
      capture('/medium', { format: 'webp' }),
    ]);
    expect([good, webp].map(({ image }) => Buffer.from(image).toString('hex', 0, 4))).toEqual(['ffd8ffe0', '52494646']);
    expect([good, webp].map(({ image }) => dimensions(image))).toEqual([
      [1280, 720],
      [1280, 720],
    ]);
    expect(poor.image.byteLength).toBeLessThan(good.image.byteLength / 2);
  });

  it.each([
    ['/404', 404, 'Not Found'],
    ['/500', 500, 'Internal Server Error'],
  ])('captures %s with the status of its response', async (path, responseCode, responseReason) => {
    expect(await capture(path)).toMatchObject({ responseCode, responseReason });
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
    const plain = await failureOf(capture(site.url('/short').replace('http:', 'https:')));
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
