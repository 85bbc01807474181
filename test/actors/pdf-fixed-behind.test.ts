import { once } from 'node:events';
import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { patience } from '../support/actor.ts';
import { captureRequest, htmlRequest } from '../support/capture-request.ts';
import { actorForSuite, forSuite } from '../support/for-suite.ts';
import { type Colour, colourAt, pngOf } from '../support/image.ts';

const TEAL: Colour = [17, 68, 85, 255];
const WHITE: Colour = [255, 255, 255, 255];

/** The viewer draws a sheet of 794 CSS pixels, A4, on 1264 pixels, 8 pixels below its top. */
const drawnAt = (y: number) => Math.round(8 + (y * 1264) / 794);

describe('what is fixed behind a page, on one sheet', () => {
  const running = actorForSuite();
  let printed: Uint8Array = Buffer.from('');
  const server = forSuite(
    async () => {
      const server = createServer((_request, response) => {
        response.writeHead(200, { 'content-type': 'application/pdf' }).end(printed);
      });
      await once(server.listen(0, '127.0.0.1'), 'listening');
      const address = server.address();
      const origin = typeof address === 'object' ? `http://127.0.0.1:${address?.port}` : '';
      return { origin, close: async () => server.close() };
    },
    ({ close }) => close(),
  );

  const drawn = async (html: string) => {
    const pdf = { singlePage: true, margin: 0 };
    const request = htmlRequest(html, { format: 'pdf', media: 'screen', elementMap: false, pdf });
    printed = (await running.actor.capture(request, patience)).image;
    return pngOf(await running.actor.capture(captureRequest(`${server.origin}/`, { fullPage: true }), patience));
  };

  it.each(Object.entries(SECTIONS))('is in each section that shows it: %s', async (_what, html) => {
    const png = await drawn(html);
    for (const y of [590, 800, 1000, 1600, 1800, 2010]) expect([y, colourAt(png, 640, drawnAt(y))]).toEqual([y, TEAL]);
    for (const y of [570, 1030, 1300, 1570, 2100]) expect([y, colourAt(png, 640, drawnAt(y))]).toEqual([y, WHITE]);
  });

  it.each(Object.entries(WHOLE))('is behind all of the sheet: %s', async (_what, html) => {
    const png = await drawn(html);
    for (const y of [10, 700, 1500, 2590]) expect([y, colourAt(png, 640, drawnAt(y))]).toEqual([y, TEAL]);
  });

  it('shows a footer that the end of the page reveals', async () => {
    const png = await drawn(
      page(
        'main { position: relative; z-index: 1; background: #fff; height: 2200px; margin-bottom: 400px } footer { position: fixed; inset: auto 0 0; height: 400px; background: rgb(17, 68, 85) }',
        '<main></main><footer></footer>',
      ),
    );
    for (const y of [10, 700, 2190]) expect([y, colourAt(png, 640, drawnAt(y))]).toEqual([y, WHITE]);
    for (const y of [2210, 2590]) expect([y, colourAt(png, 640, drawnAt(y))]).toEqual([y, TEAL]);
  });
});

const page = (css: string, body: string) =>
  `<!doctype html><html lang=en><meta charset=utf-8><title>Fixed</title><style>body { margin: 0 } ${css}</style>${body}`;

const SVG = `"data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 9'><rect width='16' height='9'
  fill='%23145'/></svg>"`.replaceAll(/\n\s*/g, ' ');

/** Two sections of 430 pixels, at 580 and 1590, in a page of 2600 pixels. */
const sections = (css: string, inside = '') =>
  page(
    `section { height: 580px } .cover { height: 430px } ${css}`,
    `<section></section><div class=cover>${inside}</div><section></section><div class=cover>${inside}</div><section></section>`,
  );

const SECTIONS = {
  'a background': sections(`.cover { background: url(${SVG}) center / cover no-repeat fixed }`),
  'a child of a clipped section': sections(
    '.cover { clip-path: inset(0) } .cover div { position: fixed; inset: 0; background: rgb(17, 68, 85) }',
    '<div></div>',
  ),
  'generated content of a clipped section': sections(
    '.cover { clip-path: inset(0) } .cover::before { content: ""; position: fixed; inset: 0; background: rgb(17, 68, 85) }',
  ),
  'generated content in a clipped section': sections(
    `.cover { clip-path: inset(0) } b::after { content: ""; position: fixed; inset: 0; background: url(${SVG}) center / cover }`,
    '<b></b>',
  ),
  'an image that a script moves': sections(
    '.cover { clip-path: inset(0) } img { position: fixed; top: 0; left: 0; width: 100vw; height: 500px; transform: translate3d(0, 90px, 0) }',
    `<img alt="" src=${SVG}>`,
  ),
};

const WHOLE = {
  'an element as high as the window': page(
    'div { position: fixed; top: 0; z-index: -1; width: 100vw; height: 100vh; background: rgb(17, 68, 85) } main { height: 2600px }',
    '<div></div><main></main>',
  ),
  'an image in the middle': page(
    'img { position: fixed; top: 50%; left: 50%; min-width: 100%; min-height: 100%; transform: translate(-50%, -50%); z-index: -1 } main { height: 2600px }',
    `<img alt="" src=${SVG}><main></main>`,
  ),
};
