import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser } from 'playwright';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CaptureOptions } from '../../src/capture/request.ts';
import { type Pixels, pixelsOf, pngOf } from '../support/image.ts';
import { siteAndActor } from '../support/site-and-actor.ts';
import { makeDirectory } from '../support/temporary-directory.ts';
import { launchBrowser } from '../ui/ui-service.ts';

/**
 * A page with parts that Chromium's own archive loses: order and shorthands of style sheets, a web font, canvases,
 * rules of scripts.
 */
const STYLED = `/part?${new URLSearchParams({
  type: 'text/html; charset=utf-8',
  text: `<!doctype html><title>Styles</title><link rel=stylesheet href="/files/styles.css">
    <h1>Web font</h1><style>@media screen { h1 { color: rgb(0, 90, 0); background: rgb(250, 230, 180) } }</style>
    <div class=ship></div><canvas width=300 height=120></canvas><p class=added>Added by a script</p>
    <style media=print>body { display: none }</style><style id=rules></style>
    <script>const context = document.querySelector('canvas').getContext('2d'); context.fillStyle = 'rgb(0,0,200)';
      context.fillRect(0, 0, 200, 120); document.querySelector('#rules').sheet.insertRule('.added { background: rgb(200,0,200); height: 90px }')</script>`,
})}`;
/** A page whose styles are in shadow trees, or were added by scripts, and images that no URL in an attribute names. */
const BUILT = `/part?${new URLSearchParams({
  type: 'text/html; charset=utf-8',
  text: `<!doctype html><title>Built</title><h1>Built</h1><x-card></x-card>
    <y-card><template shadowrootmode=open><style>p { color: rgb(255, 255, 255); background: rgb(160, 0, 160); padding: 10px }
      p::after { content: "h\u00e9 = <\\/style>" }</style><link rel=stylesheet href="/files/styles.css"><p>Sent</p><div class=ship></div></template></y-card>
    <img srcset="/image.png 100w" sizes=100vw width=200 height=90><picture><source srcset="/image.png"><img width=200 height=90></picture>
    <img id=blob width=200 height=90><video width=200 height=90></video><svg width=200 height=90><image width=200 height=90 /></svg>
    <script>customElements.define('x-card', class extends HTMLElement { constructor() { super(); const root = this.attachShadow({ mode: 'open' });
        const sheet = new CSSStyleSheet(); sheet.replaceSync('p { background: rgb(0, 170, 120); padding: 30px }'); root.adoptedStyleSheets = [sheet]; root.innerHTML = '<p>Adopted in a shadow tree</p><img srcset="/image.png?in-shadow" width=200 height=90><canvas width=200 height=90></canvas>';
        root.querySelector('canvas').getContext('2d').fillRect(0, 0, 200, 90) } });
      const sheet = new CSSStyleSheet(); sheet.replaceSync('body { background: rgb(220, 220, 255) } h1 { font-size: 60px }'); document.adoptedStyleSheets = [sheet];
      fetch('/image.png').then((response) => response.blob()).then((all) => { const image = document.querySelector('#blob'); image.src = URL.createObjectURL(all); image.onload = () => URL.revokeObjectURL(image.src);
        document.querySelector('video').poster = URL.createObjectURL(all); document.querySelector('svg image').setAttribute('href', URL.createObjectURL(all)) })</script>`,
})}`;
const IN_SHADOW = (colour: string) =>
  `<x-in><template shadowrootmode=open><style>p { background: ${colour}; height: 60px }</style><p>In a shadow tree</p><img src=/image.png width=90 height=60></template></x-in>`;
/** A file of SVG that others refer into. Its style is that of its own elements. */
const SPRITE = `/part?${new URLSearchParams({
  type: 'image/svg+xml',
  text: `<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><linearGradient id="fill"><stop stop-color="#084"/></linearGradient>
    <symbol id="ship" viewBox="0 0 10 10"><rect width="10" height="10" fill="url(#fill)"/></symbol><g id="buoy"><circle cx="40" cy="40" r="40" fill="red"/></g></svg>`,
})}`;
/** A page with images that no `<img>` shows, and frames with shadow trees. */
const DRAWN = `/part?${new URLSearchParams({
  type: 'text/html; charset=utf-8',
  text: `<!doctype html><title>Drawn</title><style>div { width: 200px; height: 90px } .set { background: image-set("/image.png?set" 1x) } .old { background: -webkit-image-set(url(/image.png?old) 1x) }</style>
    <svg width=200 height=90><image href="/image.png?svg" width=200 height=90 /></svg><svg width=200 height=90><image xlink:href="/image.png?old-svg" width=200 height=90 /></svg>
    <svg width=90 height=90><use href="${SPRITE}#ship" /></svg><x-icon><template shadowrootmode=open><svg width=90 height=90><use href="${SPRITE}#ship" /></svg></template></x-icon><svg width=90 height=90><use xlink:href="${SPRITE}#buoy" /></svg>
    <video poster="/image.png?poster" width=200 height=90></video>
    <div class=set></div><div class=old></div><div style="background-image:image-set('/image.png?attribute' 1x)"></div>
    <iframe srcdoc="${IN_SHADOW('rgb(0, 120, 0)').replaceAll('"', '&quot;')}" width=300 height=200></iframe>
    <iframe src="/part?${new URLSearchParams({ type: 'text/html', text: `<!doctype html>${IN_SHADOW('rgb(0, 0, 160)')}` })}" width=300 height=200></iframe>`,
})}`;
/** Pages of the fixture site that look the same at each visit. */
const PAGES = [STYLED, BUILT, DRAWN, '/long', '/medium', '/tide-table', '/picture/parts'];

describe('the output mhtml', () => {
  const ground = siteAndActor();
  let browser: Browser;
  let directory: string;

  beforeAll(async () => {
    browser = await launchBrowser();
    directory = await makeDirectory();
  });
  afterAll(() => browser?.close());

  /** Opens an archive without the network, and takes a screenshot of the window. */
  async function opened(name: string, archive: Uint8Array | string): Promise<Pixels> {
    const file = join(directory, `${name}.mhtml`);
    await writeFile(file, archive);
    const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
    await page.context().setOffline(true);
    await page.goto(pathToFileURL(file).href);
    const image = await pixelsOf(await page.screenshot());
    await page.close();
    return image;
  }

  const capture = (path: string, options: CaptureOptions = {}) =>
    ground.capture(path, { outputs: ['mhtml'], ...options });

  it.each(PAGES)('shows %s as the screenshot does, with the network off', async (path) => {
    const { image, outputs } = await capture(path);
    const { content = '', partial } = outputs.mhtml ?? {};
    expect(partial).toBe(false);
    const [seen, archived] = [await pngOf({ image }), await opened(path.replaceAll(/\W/g, '_').slice(0, 40), content)];
    let different = 0;
    for (let at = 0; at < seen.data.length; at += 4) {
      if ([0, 1, 2].some((c) => Math.abs((seen.data[at + c] ?? 0) - (archived.data[at + c] ?? 0)) > 8)) different += 1;
    }
    expect(different / (seen.width * seen.height)).toBeLessThan(0.01);
  });

  it('shows the images of pictures at another scale, and in a window of another width', async () => {
    const text = `<!doctype html><title>Pictures</title>
      <picture><source srcset="/image.png?one 1x, /image.png?two 2x"><img src="/image.png?else"></picture>
      <picture><source srcset="/image.png?wide" media="(min-width: 900px)"><source srcset="/image.png?narrow"><img></picture>
      <img src="/image.png?one" srcset="/image.png?two 2x">`;
    const path = `/part?${new URLSearchParams({ type: 'text/html', text })}`;
    const { outputs } = await capture(path, { viewport: { width: 1000, height: 500, deviceScaleFactor: 2 } });
    const file = join(directory, 'pictures.mhtml');
    await writeFile(file, outputs.mhtml?.content ?? '');
    for (const deviceScaleFactor of [1, 2]) {
      const page = await browser.newPage({ viewport: { width: 600, height: 500 }, deviceScaleFactor });
      await page.context().setOffline(true);
      await page.goto(pathToFileURL(file).href);
      const sizes = '[...document.images].map(({ width, height, naturalWidth }) => [width, height, naturalWidth > 0])';
      expect(await page.evaluate(sizes)).toEqual([
        [120, 75, true],
        [240, 150, true],
        [120, 75, true],
      ]);
      await page.close();
    }
  });

  it('looks for sources of pictures once, in a comment that begins many', async () => {
    const after = `document.body.append(document.createComment('<source '.repeat(3e5)))`;
    const { outputs } = await capture('/short', { javascript: { after } });
    expect(outputs.mhtml?.content.length).toBeGreaterThan(2_400_000);
  });

  it('copies a file of SVG into as many shadow trees as there is room for', async () => {
    const text = `<svg xmlns="http://www.w3.org/2000/svg"><g id="a"><desc>${'drawing '.repeat(1_500)}</desc></g></svg>`;
    const sprite = `/part?${new URLSearchParams({ type: 'image/svg+xml', text })}`;
    const icon = JSON.stringify(`<svg><use href="${sprite}#a" /></svg>`);
    const after = `for (let at = 0; at < 300; at += 1)
      document.body.appendChild(document.createElement('span')).attachShadow({ mode: 'open' }).innerHTML = ${icon}`;
    const { outputs } = await capture('/short', { javascript: { after } });
    expect(outputs.mhtml?.partial).toBe(false);
    // 2 Mi characters of 12,000 each.
    expect(String(outputs.mhtml?.content).match(/<desc>/g)?.length).toBeLessThan(180);
  });

  it('leaves the page as it was for the outputs after it', async () => {
    const rules = {
      style: { selector: 'canvas', attribute: 'style' },
      width: { selector: 'canvas', attribute: 'width' },
    };
    const { outputs } = await capture(STYLED, { extract: rules });
    expect(String(outputs.mhtml?.content)).toContain('image/png');
    expect(JSON.parse(String(outputs.extract?.content))).toEqual({ style: null, width: '300' });
    const images = {
      src: { selector: 'img', attribute: 'src', many: true },
      x: { selector: 'body', type: 'html' },
    } as const;
    const built = await capture(BUILT, { extract: images });
    const { src, x } = JSON.parse(String(built.outputs.extract?.content));
    expect(src).toEqual([null, null, null, expect.stringMatching(/^blob:/)]);
    expect(x).not.toContain('capstan');
  });

  it('is the same kind of file when Playwright drives the capture', async () => {
    const { outputs } = await capture('/short', { waitForFunction: 'true' });
    expect(String(outputs.mhtml?.content)).toMatch(/^From: <Saved by Blink>/);
  });

  it('holds a page of 6 MB of text', async () => {
    const { outputs } = await capture('/short', {
      javascript: {
        after: `const noise = new Uint8Array(6e6); for (let at = 0; at < 6e6; at += 65536) crypto.getRandomValues(noise.subarray(at, Math.min(6e6, at + 65536)));
          const text = new TextDecoder('latin1').decode(noise).replace(/[^a-zA-Z"\\\\\\\\<>]/g, 'x');
          // It is not laid out, which would take seconds.
          document.body.appendChild(document.createElement('pre')).style.contentVisibility = 'hidden';
          document.body.lastElementChild.append(text)`,
      },
    });
    expect(outputs.mhtml?.content.length).toBeGreaterThan(6_000_000);
  });
});
