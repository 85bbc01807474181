import { describe, expect, it } from 'vitest';
import type { CaptureOptions } from '../../src/capture/request.ts';
import { failureOf } from '../support/actor.ts';
import { captureRequest } from '../support/capture-request.ts';
import { siteForSuite } from '../support/for-suite.ts';
import { pixelsOf } from '../support/image.ts';
import { siteAndActor } from '../support/site-and-actor.ts';

describe('a target that is a PDF', () => {
  const { capture, captureOf, site } = siteAndActor();

  it('is shown on grey, at the width of the window, with its own type, size and title', async () => {
    const snapshot = await capture('/files/long.pdf');
    expect(snapshot).toMatchObject({
      contentType: 'application/pdf',
      responseCode: 200,
      title: 'A long report',
      finalUrl: site.url('/files/long.pdf'),
      cutPhase: null,
    });
    const { headers } = await fetch(site.url('/files/long.pdf'));
    expect(snapshot.contentLength).toBe(Number(headers.get('content-length')));
    expect(snapshot.html.length).toBeLessThan(10_000);
    expect(snapshot.html).not.toContain('<script');
    const { at } = await coloursIn(snapshot.image);
    expect(at(2, 300)).toEqual([0x52, 0x56, 0x59]);
    expect(at(20, 300)).toEqual([255, 0, 0]);
    expect(at(1260, 700)).toEqual([255, 0, 0]);
  });

  it('shows a PDF from its first page to its last with fullPage', async () => {
    const { image, height, fullHeight, truncated } = await capture('/files/long.pdf', { fullPage: true });
    const { at } = await coloursIn(image);
    const page = 843;
    expect({ height, fullHeight, truncated }).toEqual({
      height: 10 * page + 9 * 10 + 16,
      fullHeight: height,
      truncated: false,
    });
    expect(at(640, 400)).toEqual([255, 0, 0]);
    expect(at(640, page + 13)).toEqual([0x52, 0x56, 0x59]);
    expect(at(640, height - 400)).toEqual([0, 128, 0]);
  });

  it('draws a PDF that is higher than one screenshot to its last page', async () => {
    const viewport = { width: 3000, height: 1000, deviceScaleFactor: 0.5 };
    const { image, height, truncatedBy } = await capture('/files/long.pdf', { fullPage: true, viewport });
    expect(height).toBeGreaterThan(16_384 * viewport.deviceScaleFactor);
    expect(truncatedBy).toBe('');
    expect((await coloursIn(image)).at(750, height - 400)).toEqual([0, 128, 0]);
  });

  it('shows a complete PDF when the viewer receives it in several pieces', async () => {
    const { image, contentLength } = await capture('/files/heavy.pdf');
    expect(contentLength).toBeGreaterThan(1_200_000);
    expect((await coloursIn(image)).at(640, 400)).toEqual([0, 0, 255]);
  });

  it('uses the file name of a PDF without a title, and shows the text of a PDF without embedded fonts', async () => {
    const { title, image } = await capture('/redirect?to=/file.pdf');
    expect(title).toBe('file.pdf');
    expect(new Set((await coloursIn(image)).data).size).toBeGreaterThan(20);
  });

  it('renders a PDF at the scale factor and width of the viewport', async () => {
    const viewport = { width: 400, height: 300, deviceScaleFactor: 2, mobile: true, touch: true };
    const request = { ...captureRequest(site.url('/files/long.pdf')), viewport };
    const { at } = await coloursIn((await captureOf(request)).image);
    expect(at(8, 100)).toEqual([0x52, 0x56, 0x59]);
    expect(at(20, 100)).toEqual([255, 0, 0]);
    expect(at(783, 300)).toEqual([255, 0, 0]);
  });

  it('reports evidence of the PDF, not of the viewer page', async () => {
    const { evidence } = await capture('/files/long.pdf', { evidence: ['headers', 'network'] });
    expect(evidence.headers?.items).toContainEqual({ name: 'content-type', value: 'application/pdf' });
    const asked = new Set(evidence.network?.items.map(({ url }) => url));
    expect([...asked]).toEqual([site.url('/files/long.pdf')]);
  });

  it('shows a PDF also when pages may load no scripts', async () => {
    const { title } = await capture('/files/long.pdf', { block: { types: ['script', 'xhr'], urls: ['*'] } });
    expect(title).toBe('A long report');
  });

  it.each([
    ['/files/locked.pdf', /needs a password/],
    ['/files/damaged.pdf', /damaged/],
    ['/files/large.pdf', /more than 32 MiB/],
  ])('fails with not_a_page when a PDF cannot be rendered: %s', async (path, reason) => {
    const error = await failureOf(capture(path));
    expect(error).toMatchObject({
      code: 'not_a_page',
      download: { name: path.split('/').at(-1), type: 'application/pdf', bytes: expect.any(Number) },
    });
    expect(error.message).toMatch(reason);
  });

  it('hides a PDF from the page that comes after it', async () => {
    const after = `if (location.pathname === '/files/long.pdf') location = '/short';
      else fetch('https://pdf-viewer.invalid/document').then(
        async (response) => { document.title = response.status + ' ' + (await response.arrayBuffer()).byteLength; },
        (error) => { document.title = String(error); },
      )`;
    const { finalUrl, title } = await capture('/files/long.pdf', { javascript: { after } });
    expect(finalUrl).toBe(site.url('/short'));
    expect(title).toBe('TypeError: Failed to fetch');
  });

  describe('in a page', () => {
    const other = siteForSuite();
    const RED = [255, 0, 0];
    const WHITE = [255, 255, 255];
    const shown = (element: string, src = '/files/long.pdf') =>
      `/files/framed-pdf?${new URLSearchParams({ in: element, src })}`;
    async function colourOf(path: string, options = {}) {
      const { image, cutPhase, title } = await capture(path, options);
      expect({ cutPhase, title }).toEqual({ cutPhase: null, title: 'Notice' });
      return (await coloursIn(image)).at(150, 60);
    }

    it.each([
      'iframe',
      'late iframe',
      'nested iframe',
      'embed',
      'embed without a type',
      'object',
      'object without a type',
      'object with an embed',
      'iframe with a data URL',
      'embed with a data URL',
      'iframe with a blob',
      'object with a blob',
    ])('shows the first page of a PDF in: %s', async (element) => {
      expect(await colourOf(shown(element))).toEqual(RED);
    });

    it('shows a PDF of another origin, in a full page, with Playwright, and without waiting', async () => {
      const path = shown('iframe', other.url('/files/long.pdf'));
      expect(await colourOf(path, { fullPage: true })).toEqual(RED);
      expect(await colourOf(path, { waitForFunction: 'true' })).toEqual(RED);
      expect(await colourOf(path, { waitUntil: 'load' })).toEqual(RED);
    });

    it.each([
      ['X-Frame-Options', 'DENY'],
      ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"],
    ])('does not show a PDF that may not be framed: %s: %s', async (header, value) => {
      const src = `/files/unframed.pdf?${new URLSearchParams({ header, value })}`;
      expect(await colourOf(shown('iframe', src))).not.toEqual(RED);
    });

    it('shows a PDF whose policy allows the page, and no scripts', async () => {
      const value = "default-src 'none'; frame-ancestors 'self'";
      const src = `/files/unframed.pdf?${new URLSearchParams({ header: 'Content-Security-Policy', value })}`;
      expect(await colourOf(shown('iframe', src))).toEqual(RED);
    });

    it('shows the fallback of an object whose PDF is missing', async () => {
      const { outputs } = await capture(shown('object', '/404'), { outputs: ['text'] });
      expect(outputs.text?.content).toContain('Your browser shows no PDF.');
    });

    it.each(['twelve objects', 'six iframes and six objects'])(
      'shows eight PDFs, and the fallback of others: %s',
      async (elements) => {
        const { outputs } = await capture(shown(elements), { outputs: ['text'] });
        expect(outputs.text?.content.toString().match(/Your browser shows no PDF\./g)).toHaveLength(4);
      },
    );

    it('shows an empty viewer for a PDF that cannot be read', async () => {
      expect(await colourOf(shown('iframe', '/files/locked.pdf'))).toEqual([0x52, 0x56, 0x59]);
    });

    it.each([
      ['has more than 32 MiB', shown('iframe with a blob', '/files/large.pdf')],
      ['is all that frames may show', `${shown('iframe with a blob')}&content-security-policy=frame-src+blob:`],
      ['is no PDF', shown('iframe with a table')],
    ])('leaves a frame empty when its blob %s', async (_what, path) => {
      expect(await colourOf(path)).toEqual(WHITE);
    });

    it.each([
      ['frame that offers a PDF', {}],
      ['frame that offers a PDF', { waitUntil: 'load' }],
      ['frame that offers a table', {}],
      ['frame that offers a table', { waitUntil: 'load' }],
    ] satisfies [string, CaptureOptions][])(
      'leaves the content of a %s for download as it is, with %o',
      async (element, options) => {
        // Time for the download.
        const before = { javascript: { after: 'new Promise((done) => setTimeout(done, 300))' } };
        expect(await colourOf(shown(element), { ...before, ...options })).toEqual([0, 128, 0]);
      },
    );

    it.each(['object with a revoked blob', 'object with a blob that is no PDF'])(
      'shows the fallback of an %s',
      async (element) => {
        const { outputs } = await capture(shown(element), { outputs: ['text'] });
        expect(outputs.text?.content).toContain('Your browser shows no PDF.');
      },
    );

    it('shows a PDF with a data URL where the page may not fetch it', async () => {
      const path = `${shown('iframe with a data URL')}&content-security-policy=connect-src+'self'`;
      expect(await colourOf(path)).toEqual(RED);
    });

    it.each(['iframe with a data URL', 'object with a blob'])(
      'shows a PDF in a page with a process of its own, without a request to the network: %s',
      async (element) => {
        const path = `${shown(element)}&origin-agent-cluster=?1`;
        expect(await colourOf(path)).toEqual(RED);
        const { evidence } = await capture(path, { evidence: ['network'], waitForFunction: 'true' });
        const hosts = evidence.network?.items.map(({ url }) => new URL(url).host);
        expect(hosts).not.toContain('pdf-viewer.invalid');
      },
    );

    it.each(['/files/pdf-to-keep', '/files/cargo.zip', '/files/nothing', '/files/large.pdf'])(
      'leaves a frame empty that shows no PDF: %s',
      async (src) => expect(await colourOf(shown('iframe', src))).toEqual(WHITE),
    );

    it('asks once for a download that is no PDF', async () => {
      const src = '/files/cargo.zip?framed';
      expect(await colourOf(shown('iframe', src))).toEqual(WHITE);
      expect(site.hits(src)).toBe(1);
    });

    it.each(['sandboxed iframe', 'iframe that is removed', 'iframe that leaves'])(
      'captures a page whose frame cannot show its PDF to the end, complete: %s',
      async (element) => expect(await colourOf(shown(element))).not.toEqual(RED),
    );

    it('shows no more than 32 MiB of PDFs in a page', async () => {
      const { at } = await coloursIn((await capture(shown('two iframes', '/files/half.pdf'))).image);
      expect([at(150, 60), at(150, 260)].toSorted()).toEqual([RED, WHITE]);
    });

    // These two wait for their deadlines.
    it.concurrent('asks for no more PDFs when the time for them is over', async () => {
      // Runs when the PDFs have been given up, and leaves the frames time to go on.
      const after = "fetch('/files/release').then(() => new Promise((done) => setTimeout(done, 1000)))";
      const { cutPhase } = await capture(shown('two iframes', '/files/held.pdf'), { javascript: { after } });
      expect(cutPhase).toBe('load');
      expect(site.hits('/files/release')).toBe(1);
      // One request of each frame, and another one to show the first PDF.
      expect(site.hits('/files/held.pdf')).toBe(3);
    });

    it.concurrent('captures a page in time when the PDF in its frame never ends', async () => {
      const { cutPhase } = await capture(shown('iframe', '/files/endless.pdf'), { timeoutMs: 12_000 });
      expect(cutPhase).toBe('load');
    });
  });

  it('times out when a PDF never ends', async () => {
    expect((await failureOf(capture('/files/endless.pdf', { timeoutMs: 2500 }))).code).toBe('capture_timeout');
  });
});

async function coloursIn(image: Uint8Array) {
  const png = await pixelsOf(image);
  const at = (x: number, y: number) => {
    const offset = (y * png.width + x) * 4;
    return [...png.data.subarray(offset, offset + 3)];
  };
  return { at, data: png.data };
}
