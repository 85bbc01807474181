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

const Links = z.object({
  links: z.array(z.object({ href: z.string(), text: z.string(), internal: z.boolean(), box: box.nullable() })),
});

const Tree = z.object({
  nodes: z.array(z.object({ id: z.number(), parent: z.number().nullable(), role: z.string(), name: z.string() })),
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
  const outputs = ['text', 'markdown', 'blocks', 'links', 'accessibility'] as const;
  const markdown = { scope: 'page', hidden: true } as const;
  const request = captureRequest(ground.site.url(pathOf(html)), { outputs, markdown, ...options });
  const snapshot = await actor.capture(request, patience);
  const { text, markdown: written, blocks, links, accessibility } = snapshot.outputs;
  const content = String(written?.content);
  const { blocks: places, hidden } = Blocks.parse(JSON.parse(String(blocks?.content)));
  const told = places.map(({ start, end, ...place }) => ({ words: content.slice(start, end), ...place }));
  return {
    snapshot,
    partial: [text?.partial, written?.partial, links?.partial, accessibility?.partial],
    text: String(text?.content),
    markdown: content,
    blocks: told,
    links: Links.parse(JSON.parse(String(links?.content))).links,
    nodes: Tree.parse(JSON.parse(String(accessibility?.content))).nodes,
    hidden,
  };
}

type Nodes = z.output<typeof Tree>['nodes'];

/** Each text of an accessibility tree, and the number of frames around it. */
function textsIn(nodes: Nodes) {
  const framesAround = (parent: number | null): number => {
    const around = parent === null ? undefined : nodes[parent];
    return around === undefined ? 0 : framesAround(around.parent) + (around.role === 'Iframe' ? 1 : 0);
  };
  return nodes
    .filter(({ role }) => role === 'StaticText')
    .map(({ name, parent }) => `${'>'.repeat(framesAround(parent))}${name}`);
}

const WAYS = ['display none', 'white on white', 'off screen']
  .map((way) => HIDDEN[way] ?? HIDDEN['white on white'])
  .join('');

describe('text, links and accessibility trees of frames', () => {
  it.each<[string, CaptureOptions, boolean]>([
    ['the direct driver', {}, false],
    ['Playwright', { waitForFunction: 'true' }, false],
    ['a browser that gives each site a process', {}, true],
  ])('are where the frame is, through frames of every kind, by %s', async (_, options, isEach) => {
    const browserPath = isEach ? await browserStartedBy((path) => `exec ${path} --site-per-process "$@"`) : undefined;
    const own = browserPath === undefined ? undefined : await startActor({ browserPath });
    const deep = otherSite(`<p>In another site.</p>${frame(sameOrigin('<p>In the first site again.'))}${WAYS}`);
    const page = `<h1>Outside</h1>
      ${frame(sameOrigin(`<p>In the same origin.</p>${frame(otherOrigin('<p>In another <a href="/tides">origin</a>.'))}`), 'width=600 height=300')}
      <p>Between.</p>${frame(deep, 'width=600 height=400')}
      ${frame(otherSite(`<p>${SECRET} <a href=/secret>ignore</a>`), 'style="opacity:0"')}
      <div style="position:relative">${frame(otherSite(`<p>${SECRET}`))}<div style="position:absolute;inset:0;background:#eee"></div></div>
      ${frame(sameOrigin('<p>In a sandbox.'), 'sandbox')}
      <div style="height:3000px"></div>${frame(otherSite('<p>Far below.'), 'loading=eager')}<p><a href="/back">The end.</a>`;
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
    const back = `[The end.](${ground.site.url('/back')})`;
    const as: Readonly<Record<string, string>> = { Outside: '# Outside', 'In another origin.': link, 'The end.': back };
    const written = lines.map((line) => as[line] ?? line);
    expect(seen.blocks.map(({ words }) => words)).toEqual(written);
    expect(seen.markdown).not.toMatch(/ignore/i);
    expect(seen.links.map(({ href, text, internal }) => [href, text, internal])).toEqual([
      [otherPort.url('/tides'), 'origin', false],
      [ground.site.url('/back'), 'The end.', true],
    ]);
    expect(seen.partial).toEqual([false, false, false, false]);
    expect(seen.nodes.map(({ id }) => id)).toEqual(seen.nodes.keys().toArray());
    expect(textsIn(seen.nodes).filter((each) => !each.includes(SECRET))).toEqual([
      'Outside',
      '>In the same origin.',
      '>>In another ',
      '>>origin',
      '>>.',
      'Between.',
      '>In another site.',
      '>>In the first site again.',
      '>ignore',
      '>In a sandbox.',
      '>Far below.',
      'The end.',
    ]);
    expect(seen.hidden.texts.map((each) => each.text).join()).toContain(SECRET);
  });

  it.each<[string, CaptureOptions, string, isSame: boolean]>([
    ['the window', {}, 'margin:90px 0 0 40px', false],
    ['a full page at scale 2', { fullPage: true, viewport: { deviceScaleFactor: 2 } }, 'margin:1500px 0 0 40px', false],
    ['a full page, scaled', { fullPage: true }, 'margin:1000px 0 0 40px;transform:scale(.5)', false],
    ['a full page, in a frame of the same origin', { fullPage: true }, 'margin:1000px 0 0 40px', true],
    ['the window, by Playwright', { waitForFunction: 'true' }, 'margin:90px 0 0 40px', false],
  ])('have boxes where the words are in %s', async (_, options, style, isSame) => {
    const red =
      '<p style="margin:30px 0 0 70px"><a href="/red" style="background:rgb(200,0,0);color:#fff;font:20px/1 monospace">WWWW WWWW</a></p>';
    const inner = frame(otherOrigin(red), 'style="border:5px solid;width:400px;height:150px"');
    const around = isSame ? sameOrigin : otherSite;
    const page = `<p>Before.</p>${frame(around(`<p>Around.</p>${inner}`), `id=outer style="border:7px solid;width:600px;height:300px;${style}"`)}<div style="height:900px">`;
    const { snapshot, blocks, links } = await read(page, options);
    const place = placeOf(await pngOf(snapshot), RED, 60);
    const found = blocks.find(({ words }) => words.includes('WWWW'));
    expect(found?.selector).toBe(isSame ? null : '#outer');
    const [link] = links;
    expect(link).toMatchObject({ href: otherPort.url('/red'), text: 'WWWW WWWW' });
    const scale = options.viewport?.deviceScaleFactor ?? 1;
    for (const side of ['x', 'y'] as const) {
      for (const { box } of [found, link].filter((each) => each !== undefined)) {
        expect(Math.abs((box?.[side] ?? -1) - (place?.[side] ?? 0)), side).toBeLessThanOrEqual(5 * scale);
      }
    }
  });

  it('leave out a frame that does not answer or is replaced all the time, and say that they are partial', async () => {
    const replaced = `<iframe class=new></iframe><script>setInterval(() => {
      const frame = document.querySelector('.new');
      frame.replaceWith(frame.cloneNode());
    }, 20)</script>`;
    // It waits for an answer that never comes: a loop would keep a core busy until the time of each output is over.
    const blocks = `<p>Blocked.</p><script>onload = () => setTimeout(() => {
      const ask = new XMLHttpRequest();
      ask.open('GET', '/hang', false);
      ask.send();
    }, 50)</script>`;
    const own = await startActor({
      browserPath: await browserStartedBy((path) => `exec ${path} --site-per-process "$@"`),
    });
    const page = `<p>Before.</p>${frame(otherSite(blocks))}${replaced}${frame(sameOrigin('Calm.'), 'style="opacity:0"')}<p>After.</p>`;
    const extract = { texts: { selector: 'iframe >> body', type: 'html', many: true } } as const;
    const seen = await read(page, { waitUntil: 'load', delayMs: 500, extract }, own).finally(() => own.stop());
    expect(seen.text).toBe('Before.\n\nAfter.\n');
    expect([seen.partial[0], seen.partial[2], seen.partial[3]]).toEqual([true, true, true]);
    expect(textsIn(seen.nodes)).toEqual(['Before.', '>Calm.', 'After.']);
    const { extract: values } = seen.snapshot.outputs;
    expect(values?.partial).toBe(true);
    expect(JSON.parse(String(values?.content)).texts).toContain('<body>Calm.</body>');
  });
});
