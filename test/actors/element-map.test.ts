import { describe, expect, it } from 'vitest';
import {
  type ElementEntry,
  ElementMapSchema,
  MAX_MAP_CHARACTERS,
  type TextEntry,
} from '../../src/capture/comparison/element-map.ts';
import type { CaptureOptions } from '../../src/capture/request.ts';
import { patience } from '../support/actor.ts';
import { htmlRequest } from '../support/capture-request.ts';
import { actorForSuite } from '../support/for-suite.ts';
import { placeOf, pngOf } from '../support/image.ts';

const RED = [200, 0, 0] as const;

const running = actorForSuite();

async function mapOf(html: string, options: CaptureOptions = {}) {
  const snapshot = await running.actor.capture(htmlRequest(html, options), patience);
  const map = ElementMapSchema.parse(JSON.parse(snapshot.elements ?? ''));
  const elements = map.entries.filter((entry): entry is ElementEntry => 'tag' in entry);
  const texts = map.entries.filter((entry): entry is TextEntry => 'text' in entry);
  const byId = (id: string) => elements.find((entry) => entry.id === id);
  const styleOf = (id: string) => map.styles[byId(id)?.style ?? -1];
  return { snapshot, map, elements, texts, byId, styleOf };
}

const FAR = `<!doctype html><body style="margin:0;height:3000px;width:1200px">
  <div id=box style="position:absolute;left:300px;top:1500px;width:100px;height:60px;background:rgb(200,0,0)"></div>`;

describe('the element map', () => {
  it('has elements in order, with what selectors need, and short forms of texts and styles', async () => {
    const long = 'All about harbours and the tides that come and go in them, twice a day.';
    const { elements, texts, byId, styleOf } = await mapOf(`<!doctype html><title>T</title><body>
      <h1 id=title class="big blue" data-kind=headline style="color:rgb(0,0,255)">Tides</h1>
      <p id=long style="background:rgb(1,2,3)">${long}</p><p id=other>${long.replace('day', 'way')}</p>
      <p id=hidden style="display:none">Nothing</p><img id=image width=30 height=20 src="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=">`);
    expect(elements.map(({ tag }) => tag)).toEqual(['html', 'head', 'body', 'h1', 'p', 'p', 'p', 'img']);
    expect(byId('title')).toMatchObject({ class: 'big blue', attributes: { 'data-kind': 'headline' }, parent: 2 });
    expect(styleOf('title')).toMatchObject({ color: 'rgb(0, 0, 255)', 'font-weight': '700' });
    expect(styleOf('long')).toMatchObject({ 'background-color': 'rgb(1, 2, 3)' });
    expect(byId('hidden')?.box).toBeUndefined();
    expect(byId('image')).toMatchObject({
      box: [8, expect.any(Number), 30, 20],
      image: expect.stringMatching(/^data:/),
    });
    const [title, one, other] = texts;
    expect(title).toMatchObject({ text: 'Tides', length: 5 });
    expect(one).toMatchObject({ text: long.slice(0, 48), length: long.length });
    expect(other?.text).toBe(one?.text);
    expect(other?.hash).not.toBe(one?.hash);
  });

  it.each<[string, CaptureOptions]>([
    ['a full page', { fullPage: true }],
    ['a full page of two pixels for each CSS pixel', { fullPage: true, viewport: { deviceScaleFactor: 2 } }],
    ['a full page that is scaled down', { fullPage: true, resize: { width: 600 } }],
    ['the window after scrolling', { actions: [{ type: 'scroll', y: 1200 }] }],
    ['a rectangle', { clip: { x: 200, y: 1400, width: 700, height: 300 } }],
    ['an element', { selector: '#box' }],
    ['a phone', { fullPage: true, device: 'iPhone 15' }],
  ])('has the places of elements in the image of %s', async (_, options) => {
    const { snapshot, byId } = await mapOf(FAR, options);
    const painted = placeOf(await pngOf(snapshot), RED, 2);
    const sides = painted === null ? [] : [painted.x, painted.y, painted.width, painted.height];
    const off = sides.map((side, at) => Math.abs(side - (byId('box')?.box?.[at] ?? -100)));
    expect(off).toHaveLength(4);
    expect(Math.max(...off)).toBeLessThanOrEqual(1);
  });

  it('enters shadow roots and same-origin frames, and cuts boxes at the edges of scrolling elements', async () => {
    const { byId } = await mapOf(`<!doctype html><body style="margin:0"><div id=host></div>
      <script>host.attachShadow({ mode: 'open' }).innerHTML = '<p id=inside style="margin:0;height:40px">Shadow</p>';</script>
      <iframe style="position:absolute;left:100px;top:200px;border:0;width:300px;height:200px" srcdoc="<body style='margin:0'><p id=framed style='margin:10px;width:50px'>Framed"></iframe>
      <div style="position:absolute;left:0;top:500px;width:200px;height:100px;overflow:hidden"><div id=wide style="width:900px;height:50px">Wide</div></div>
      <div style="position:absolute;left:0;top:600px;width:200px;height:100px;overflow:hidden"><div id=cut style="margin-left:300px;width:50px">Cut</div></div>`);
    expect(byId('inside')?.box).toEqual([0, 0, 1280, 40]);
    expect(byId('framed')?.box?.slice(0, 3)).toEqual([110, 210, 50]);
    expect(byId('wide')?.box).toEqual([0, 500, 200, 50]);
    expect(byId('cut')?.box).toBeUndefined();
  });

  it('is absent when it is turned off, and for a PDF', async () => {
    for (const options of [{ elementMap: false }, { format: 'pdf' as const }]) {
      const snapshot = await running.actor.capture(htmlRequest('<p>Tides', options), patience);
      expect(snapshot.elements).toBeNull();
    }
  });

  it('is bounded for 11,000 elements, and for a page that hides members of its elements', async () => {
    const elements = '<i>x</i>'.repeat(11_000);
    const html = `<!doctype html><body style="font:6px/8px monospace"><form><input name=attributes><input name=firstChild>${elements}</form>`;
    const { map } = await mapOf(html);
    expect(map.partial).toBe(true);
    expect(map.entries.length).toBeLessThanOrEqual(10_000);
    expect(map.entries.length).toBeGreaterThan(1_000);
  });

  it('ends early, and is not left out, when it would be too large', async () => {
    const { map, byId, snapshot } = await mapOf(
      `<!doctype html><body><p id=first>Harbour<script>
        const large = document.createElement('i');
        for (let at = 0; at < 12; at += 1) large.setAttribute('data-' + at, 'x'.repeat(100));
        document.body.append(...Array.from({ length: 5000 }, () => large.cloneNode()));
      </script>`,
    );
    expect(snapshot.elements?.length).toBeLessThanOrEqual(MAX_MAP_CHARACTERS);
    expect(map.partial).toBe(true);
    expect(map.entries.length).toBeGreaterThan(2_000);
    expect(byId('first')?.box).toBeDefined();
  });

  it('ends early when its styles would be too large', async () => {
    const { map, snapshot, styleOf } = await mapOf(
      `<!doctype html><style>i { display: inline-block; width: 2px; height: 2px; border: 1px solid; opacity: 0.123 }</style>
        <body style="margin:0;font-size:4px"><p id=first>Harbour</p><script>
        for (let at = 0; at < 9990; at += 1) {
          const i = document.body.appendChild(document.createElement('i'));
          const colour = 'rgba(' + [100 + at % 100, 100 + Math.floor(at / 100), 222] + ', 0.12)';
          const shadow = '0 0 0 1px ' + colour;
          i.style = 'color:' + colour + ';border-color:' + [colour, colour, colour, 'red'].join(' ') + ';box-shadow:' + [shadow, shadow, shadow] + ';background:linear-gradient(' + colour + ',' + colour + ',red,green,blue),' + colour;
        }
      </script>`,
    );
    expect(snapshot.elements?.length).toBeLessThanOrEqual(MAX_MAP_CHARACTERS);
    expect(map.partial).toBe(true);
    expect(map.entries.length).toBeGreaterThan(1_000);
    expect(styleOf('first')).toBeDefined();
    for (const entry of map.entries) if ('style' in entry) expect(map.styles[entry.style ?? -1]).toBeDefined();
  });
});
