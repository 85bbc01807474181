import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { CaptureOptions } from '../../src/capture/request.ts';
import { HIDDEN, SECRET } from '../fixtures/hidden-text.ts';
import { patience, startActor } from '../support/actor.ts';
import { browserStartedBy } from '../support/browser-script.ts';
import { captureRequest } from '../support/capture-request.ts';
import { siteForSuite } from '../support/for-suite.ts';
import { placeOf, pngOf } from '../support/image.ts';
import { siteAndActor } from '../support/site-and-actor.ts';

const RED = [200, 0, 0] as const;
const box = z.object({ x: z.number(), y: z.number(), width: z.number(), height: z.number() });
const Blocks = z.object({
  blocks: z.array(
    z.object({ start: z.number(), end: z.number(), box: box.nullable(), selector: z.string().nullable() }),
  ),
  hidden: z.object({ count: z.number(), texts: z.array(z.object({ technique: z.string(), text: z.string() })) }),
});

const ground = siteAndActor();
const otherPort = siteForSuite();

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
/** The path of a page with this HTML. */
const pathOf = (html: string) =>
  `/part?${new URLSearchParams({ type: 'text/html; charset=utf-8', text: `<!doctype html>${html}` })}`;
const frame = (url: string, attributes = '') => `<iframe ${attributes} src="${escaped(url)}"></iframe>`;
const sameOrigin = (html: string) => ground.site.url(pathOf(html));
const otherOrigin = (html: string) => otherPort.url(pathOf(html));
const otherSite = (html: string) => otherOrigin(html).replace('127.0.0.1', 'localhost');

async function read(html: string, options: CaptureOptions, { actor } = ground.running) {
  const outputs = ['text', 'markdown', 'blocks'] as const;
  const markdown = { scope: 'page', hidden: true } as const;
  const request = captureRequest(ground.site.url(pathOf(html)), { outputs, markdown, ...options });
  const snapshot = await actor.capture(request, patience);
  const { text, markdown: written, blocks } = snapshot.outputs;
  const content = String(written?.content);
  const { blocks: places, hidden } = Blocks.parse(JSON.parse(String(blocks?.content)));
  const told = places.map(({ start, end, ...place }) => ({ words: content.slice(start, end), ...place }));
  return {
    snapshot,
    partial: [text?.partial, written?.partial],
    text: String(text?.content),
    markdown: content,
    blocks: told,
    hidden,
  };
}

const WAYS = ['display none', 'white on white', 'off screen']
  .map((way) => HIDDEN[way] ?? HIDDEN['white on white'])
  .join('');

describe('the text of frames of other origins', () => {
  it.each<[string, CaptureOptions, boolean]>([
    ['the direct driver', {}, false],
    ['Playwright', { waitForFunction: 'true' }, false],
    ['a browser that gives each site a process', {}, true],
  ])('is where the frame is, through frames of every kind, by %s', async (_, options, isEach) => {
    const browserPath = isEach ? await browserStartedBy((path) => `exec ${path} --site-per-process "$@"`) : undefined;
    const own = browserPath === undefined ? undefined : await startActor({ browserPath });
    const deep = otherSite(`<p>In another site.</p>${frame(sameOrigin('<p>In the first site again.'))}${WAYS}`);
    const page = `<h1>Outside</h1>
      ${frame(sameOrigin(`<p>In the same origin.</p>${frame(otherOrigin('<p>In another <a href="/tides">origin</a>.'))}`), 'width=600 height=300')}
      <p>Between.</p>${frame(deep, 'width=600 height=400')}
      ${frame(otherSite(`<p>${SECRET}`), 'style="opacity:0"')}
      <div style="position:relative">${frame(otherSite(`<p>${SECRET}`))}<div style="position:absolute;inset:0;background:#eee"></div></div>
      ${frame(sameOrigin('<p>In a sandbox.'), 'sandbox')}
      <div style="height:3000px"></div>${frame(otherSite('<p>Far below.'), 'loading=eager')}<p>The end.`;
    const seen = await read(page, options, own).finally(() => own?.stop());
    const order = [
      'Outside',
      'In the same origin.',
      'In another origin.',
      'Between.',
      'In another site.',
      'In the first site again.',
    ];
    const lines = [...order, 'In a sandbox.', 'Far below.', 'The end.'];
    expect(seen.text.split(/\n+/).filter((line) => line !== '')).toEqual(lines);
    const link = `In another [origin](${otherPort.url('/tides')}).`;
    const written = lines.map((line) =>
      line === 'Outside' ? '# Outside' : line === 'In another origin.' ? link : line,
    );
    expect(seen.blocks.map(({ words }) => words)).toEqual(written);
    expect(seen.markdown).not.toMatch(/ignore/i);
    expect(seen.partial).toEqual([false, false]);
    expect(seen.hidden.texts.map((each) => each.text).join()).toContain(SECRET);
  });

  it.each<[string, CaptureOptions, string]>([
    ['the window', {}, 'margin:90px 0 0 40px'],
    ['a full page at scale 2', { fullPage: true, viewport: { deviceScaleFactor: 2 } }, 'margin:1500px 0 0 40px'],
    ['a full page, scaled', { fullPage: true }, 'margin:1000px 0 0 40px;transform:scale(.5)'],
  ])('has boxes where its words are in %s', async (_, options, style) => {
    const red =
      '<p style="background:rgb(200,0,0);color:#fff;font:20px/1 monospace;width:9em;margin:30px 0 0 70px">WWWW WWWW</p>';
    const inner = frame(otherOrigin(red), 'style="border:5px solid;width:400px;height:150px"');
    const page = `<p>Before.</p>${frame(otherSite(`<p>Around.</p>${inner}`), `id=outer style="border:7px solid;width:600px;height:300px;${style}"`)}<div style="height:900px">`;
    const { snapshot, blocks } = await read(page, options);
    const place = placeOf(pngOf(snapshot), RED, 60);
    const found = blocks.find(({ words }) => words.startsWith('WWWW'));
    expect(found?.selector).toBe('#outer');
    const scale = options.viewport?.deviceScaleFactor ?? 1;
    for (const side of ['x', 'y'] as const) {
      expect(Math.abs((found?.box?.[side] ?? -1) - (place?.[side] ?? 0)), side).toBeLessThanOrEqual(4 * scale);
    }
  });

  it('leaves out a frame that does not answer, and says that the text is partial', async () => {
    const spins = '<p>Spinning.</p><script>onload = () => setTimeout(() => { for (;;); }, 50)</script>';
    const own = await startActor({
      browserPath: await browserStartedBy((path) => `exec ${path} --site-per-process "$@"`),
    });
    const page = `<p>Before.</p>${frame(otherSite(spins))}<p>After.</p>`;
    const seen = await read(page, { timeoutMs: 10_000, waitUntil: 'load', delayMs: 500 }, own).finally(() =>
      own.stop(),
    );
    expect(seen.text).toBe('Before.\n\nAfter.\n');
    expect(seen.partial[0]).toBe(true);
  }, 60_000);
});
