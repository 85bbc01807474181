import { getDocument } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { describe, expect, it } from 'vitest';
import type { CaptureOptions } from '../../src/capture/request.ts';
import type { Snapshot } from '../../src/capture/result/snapshot.ts';
import { failureOf } from '../support/actor.ts';
import { htmlRequest } from '../support/capture-request.ts';
import { siteAndActor } from '../support/site-and-actor.ts';

describe.concurrent('a PDF', () => {
  const ground = siteAndActor();

  const capture = (path: string, overrides: CaptureOptions = {}) =>
    ground.capture(path, { format: 'pdf', ...overrides });
  const print = (html: string, pdf: PdfGiven) =>
    ground.captureOf(htmlRequest(html, { format: 'pdf', elementMap: false, pdf }));

  it('prints the page on as many sheets as needed, A4 by default, and reports no pixel size', async () => {
    const snapshot = await capture('/picture/sheets?sheets=3');
    expect(snapshot).toMatchObject({
      width: 0,
      height: 0,
      truncated: false,
      cutPhase: null,
      title: 'A page on sheets',
    });
    expect(sheetsOf(snapshot.image)).toEqual([A4, A4, A4]);
  });

  it.each([
    [{ landscape: true }, [842, 595]],
    [{ paper: 'Letter' }, [612, 792]],
    [{ paper: 'A5', margin: 50, scale: 2 }, [419, 595]],
    [{ width: 100, height: 150 }, [283, 425]],
    [{ height: 150 }, [595, 425]],
    [{ width: 100, height: 150, landscape: true }, [425, 283]],
    [{ width: 100, height: 5080 }, [283, 14_400]],
    [{ paper: 'A3', margin: 0, scale: 0.1, landscape: true }, [1190, 842]],
  ] as const)('prints %j on sheets of %j points', async (pdf, [width, height]) => {
    const [sheet] = sheetsOf((await capture('/picture/sheets?sheets=1', { pdf })).image);
    expect(Math.abs(Number(sheet?.[0]) - width)).toBeLessThanOrEqual(1);
    expect(Math.abs(Number(sheet?.[1]) - height)).toBeLessThanOrEqual(1);
  });

  it.each<[string, CaptureOptions, number]>([
    ['/tall?px=5000', {}, 5000],
    ['/tall?px=5000', { media: 'screen', pdf: { scale: 0.5 } }, 2500],
    ['/tall?px=5000', { pdf: { landscape: true, margin: 0 } }, 5000],
    ['/picture/sheets?sheets=40', { css: 'section { height: 100px }' }, 4000],
    ['/picture/sheets?sheets=4', { css: 'section { height: 100vh }' }, 4 * 720],
    ['/picture/sheets?sheets=1', {}, 720],
  ])('prints %s with %j on one sheet as high as the page', async (path, { pdf, ...options }, pixels) => {
    const snapshot = await capture(path, { ...options, pdf: { singlePage: true, ...pdf } });
    const [sheet, ...others] = sheetsOf(snapshot.image);
    expect(others).toEqual([]);
    const margins = (2 * (pdf?.margin ?? 10) * 72) / 25.4;
    expect(Math.abs(Number(sheet?.[1]) - (pixels * 72) / 96 - margins)).toBeLessThanOrEqual(3);
    expect(snapshot.truncated).toBe(false);
  });

  it('continues one long page on further sheets when it is higher than a PDF may be', async () => {
    const { image } = await capture('/tall?px=30000', { pdf: { singlePage: true } });
    expect(sheetsOf(image).map(([, height]) => height)).toEqual([14_400, 14_400]);
  });

  it.each(Object.entries(BREAKING))('prints a page with %s on one sheet', async (_what, html) => {
    const snapshot = await print(html, { singlePage: true });
    expect(await textOf(snapshot)).toEqual(['1 2 3 4 5 6 last']);
    const [[width, height] = []] = sheetsOf(snapshot.image);
    expect(width).toBe(595);
    expect(Math.abs(Number(height) - heightOnPaper(2100))).toBeLessThanOrEqual(3);
  });

  it('leaves page breaks in closed shadow trees of a document larger than 4 MiB', async () => {
    const large = `<script>document.body.dataset.more = 'x'.repeat(5_000_000)</script>`;
    const { image } = await print(BREAKING['breaks in a closed shadow tree'] + large, { singlePage: true });
    expect(sheetsOf(image)).toHaveLength(3);
  });

  it.each([
    [740, 740, 1],
    [992, 992, 1],
    [1436, 1077, 1],
    [1300, 1300, 0.7],
  ])('prints a page that is %d pixels wide on a sheet without a blank end', async (minimum, laidOut, scale) => {
    const html = numbered(`@media print { @page { size: a3 } body { min-width: ${minimum}px !important } }`);
    const snapshot = await print(html, { singlePage: true, scale });
    expect(await textOf(snapshot)).toEqual(['1 2 3 4 5 6 last']);
    const [[, height] = []] = sheetsOf(snapshot.image);
    expect(Math.abs(Number(height) - heightOnPaper((2100 * 718) / laidOut))).toBeLessThanOrEqual(10);
  });

  it('prints vertical writing on one sheet as wide as the page', async () => {
    const html = numbered('html { writing-mode: vertical-rl } p { height: auto; width: 300px }');
    const snapshot = await print(html, { singlePage: true });
    expect(await textOf(snapshot)).toEqual(['1 2 3 4 5 6 last']);
    const [[width] = []] = sheetsOf(snapshot.image);
    expect(Math.abs(Number(width) - heightOnPaper(2100))).toBeLessThanOrEqual(3);
  });

  it('prints a page with a style sheet of another origin on one sheet', async () => {
    const css = '@page { size: A5; margin: 40mm } .pb { break-before: page !important }';
    const sheet = ground.site.url(`/part?type=text/css&text=${encodeURIComponent(css)}`);
    const html = numbered('').replace('<style>', `<link rel=stylesheet href="${sheet}"><style>`);
    expect(await textOf(await print(html, { singlePage: true }))).toEqual(['1 2 3 4 5 6 last']);
  });

  it.each<[string, PdfGiven, number[], number]>([
    ['@page { margin: 40mm }', {}, A4, 113],
    ['@page { margin: 40mm }', { margin: 0 }, A4, 0],
    ['@page { margin: 40mm !important } @page :first { margin: 30mm !important }', { margin: 10 }, A4, 28],
    ['@media print { @layer a { @page { margin: 40mm !important } } }', { margin: 10 }, A4, 28],
    ['@page w { margin: 40mm !important } body { page: w }', { margin: 10 }, A4, 28],
    ['@page { size: landscape }', {}, A4_LANDSCAPE, 28],
    ['@page { size: landscape }', { landscape: false }, A4, 28],
    ['@page { size: A5 portrait; margin: 5mm }', { landscape: true }, A4_LANDSCAPE, 14],
    ['@page { size: A5 portrait !important }', { landscape: true, margin: 20 }, A4_LANDSCAPE, 57],
    ['@page { page-orientation: rotate-left }', { landscape: true }, A4_LANDSCAPE, 28],
    ['@page { size: 100mm 50mm; margin: 2mm }', { preferCssPageSize: true }, [283, 142], 6],
    ['@page { size: 100mm 50mm; margin: 2mm }', { preferCssPageSize: true, margin: 5 }, [283, 142], 14],
    ['@page { size: 100mm 50mm }', { preferCssPageSize: true, landscape: false }, [283, 142], 28],
    ['@page { size: landscape }', { preferCssPageSize: true, paper: 'A5' }, [595, 420], 28],
    ['', { preferCssPageSize: true, landscape: true }, A4_LANDSCAPE, 28],
  ])(
    'prints a page with %j and the options %j on sheets of %j points with margins of %d',
    async (css, pdf, size, margin) => {
      const snapshot = await print(numbered(css), pdf);
      const [first, second] = sheetsOf(snapshot.image);
      for (const sheet of [first, second]) expect(near(sheet, size)).toBe(true);
      expect(await leftsOf(snapshot.image)).toEqual([margin]);
    },
  );

  it('prints sheets of different sizes where the page gives them', async () => {
    const html = numbered('@page { size: A5 } @page wide { size: A4 landscape } .pb { page: wide }');
    const { image } = await print(html, { preferCssPageSize: true });
    expect(sheetsOf(image).some((sheet) => near(sheet, [420, 595]))).toBe(true);
    expect(sheetsOf(image).some((sheet) => near(sheet, A4_LANDSCAPE))).toBe(true);
  });

  it('adds an outline of the headings on request', async () => {
    const html = '<h1>One</h1><h2>One and a half</h2><h1 style="break-before: page">Two</h1>';
    const outlined = await print(html, { outline: true });
    expect(await outlineOf(outlined.image)).toEqual([
      ['One', ['One and a half']],
      ['Two', []],
    ]);
    expect(await outlineOf((await print(html, {})).image)).toEqual([]);
  });

  it('prints the styles of the screen with the media screen, and those of print without', async () => {
    const css = '@media print { section { visibility: hidden } } @media screen { p { display: none } }';
    const path = '/picture/sheets?sheets=1';
    expect(await textOf(await capture(path, { css, media: 'screen' }))).toEqual(['Sheet 1']);
    expect(await textOf(await capture(path, { css }))).toEqual(['']);
    expect(await textOf(await capture(path, { css, media: 'print' }))).toEqual(['']);
  });

  it.each([
    ['2', ['Sheet 2']],
    ['1-2, 4', ['Sheet 1', 'Sheet 2', 'Sheet 4']],
    ['3-', ['Sheet 3', 'Sheet 4']],
    ['4-900', ['Sheet 4']],
  ])('prints only the sheets %s', async (pageRanges, texts) => {
    const snapshot = await capture('/picture/sheets?sheets=4', { pdf: { pageRanges } });
    expect(await textOf(snapshot)).toEqual(texts);
    expect(snapshot.truncated).toBe(false);
  });

  it('prints at most 200 of the requested sheets, and is reported as truncated', async () => {
    const snapshot = await capture('/picture/sheets?sheets=205', { pdf: { pageRanges: '2, 4-' } });
    const texts = await textOf(snapshot);
    expect([texts.length, texts[0], texts.at(-1)]).toEqual([200, 'Sheet 2', 'Sheet 202']);
    expect(snapshot.truncated).toBe(true);
  });

  it('fails with selector_not_found when the page has none of the requested sheets', async () => {
    const error = await failureOf(capture('/picture/sheets?sheets=2', { pdf: { pageRanges: '3-4' } }));
    expect(error).toMatchObject({ code: 'selector_not_found', message: 'the page has none of the sheets 3-4' });
  });

  it('prints a header and a footer with the values that their classes name', async () => {
    const style = 'font-size:12px';
    const headerTemplate = `<b style="${style}">Upper <i class=title></i></b>`;
    const footerTemplate = `<b style="${style}"><i class=pageNumber></i> of <i class=totalPages></i></b>`;
    const both = await capture('/picture/sheets?sheets=2', { pdf: { margin: 20, headerTemplate, footerTemplate } });
    const texts = await textOf(both);
    expect(texts).toEqual(['Sheet 1 Upper A page on sheets 1 of 2', 'Sheet 2 Upper A page on sheets 2 of 2']);
    const footed = await capture('/picture/sheets?sheets=1', { pdf: { margin: 20, footerTemplate } });
    expect(await textOf(footed)).toEqual(['Sheet 1 1 of 1']);
  });

  it('loads nothing and runs nothing for a header', async () => {
    const asked = ground.site.url('/of-a-header.png');
    const headerTemplate = `<img src="${asked}"><script>fetch('${asked}')</script><b style="font-size:12px">Upper</b>
      <img src=x onerror="fetch('${asked}')"><iframe src="file:///etc/passwd"></iframe><iframe src="${asked}"></iframe>`;
    const [text] = await textOf(await capture('/picture/sheets?sheets=1', { pdf: { margin: 20, headerTemplate } }));
    expect(text).toContain('Upper');
    expect(text).not.toContain('root:');
    expect(ground.site.requests.map(({ url }) => url)).not.toContain('/of-a-header.png');
  });

  it('leaves out backgrounds on request', async () => {
    const [plain, coloured] = await Promise.all([
      capture('/picture/parts', { pdf: { background: false } }),
      capture('/picture/parts'),
    ]);
    expect(plain.image.byteLength).toBeLessThan(coloured.image.byteLength);
  });

  it('does not show hidden elements', async () => {
    const [hidden, whole] = await Promise.all([
      capture('/picture/sheets?sheets=2', { hide: ['section'] }),
      capture('/picture/sheets?sheets=2'),
    ]);
    // Without text no font is embedded.
    expect(text(whole.image)).toContain('/FontFile2');
    expect(text(hidden.image)).not.toContain('/FontFile2');
    expect(sheetsOf(hidden.image)).toHaveLength(2);
  });

  it('contains the first 200 sheets of a longer page, and is reported as truncated', async () => {
    const [cut, whole] = await Promise.all([
      capture('/picture/sheets?sheets=203'),
      capture('/picture/sheets?sheets=200'),
    ]);
    expect(sheetsOf(cut.image)).toHaveLength(200);
    expect(cut.truncated).toBe(true);
    expect(sheetsOf(whole.image)).toHaveLength(200);
    expect(whole.truncated).toBe(false);
  });
});

const A4 = [595, 842];
const A4_LANDSCAPE = [842, 595];

type PdfGiven = NonNullable<CaptureOptions['pdf']>;

const PARAGRAPHS = '<p>1<p class=pb>2<p>3<p class=pb>4<p>5<p>6<p>last';
const SEVEN = 'body { margin: 0 } p { height: 300px; margin: 0; border-bottom: 1px solid; box-sizing: border-box }';

/** A page of seven paragraphs, 2100 pixels high. */
const numbered = (css: string, body = PARAGRAPHS) =>
  `<!doctype html><html lang=en><meta charset=utf-8><title>Seven</title><style>${SEVEN}${css}</style><body>${body}`;

const inShadow = (mode: string, css: string) =>
  numbered('', `<div><template shadowrootmode=${mode}><style>${SEVEN}${css}</style>${PARAGRAPHS}</template></div>`);

/** Pages that print on several sheets by what they say themselves. */
const BREAKING = {
  'a size': numbered('@page { size: A4 }'),
  'an important size': numbered('@page { size: A5 !important; margin: 40mm !important }'),
  'an important size of the first sheet': numbered('@page :first { size: A5 !important }'),
  'an important size in a layer': numbered('@layer a { @page { size: A5 !important; margin: 40mm !important } }'),
  margins: numbered('@page { margin: 2cm }'),
  'other margins of the first sheet': numbered('@page { margin: 15mm } @page :first { margin-top: 40mm }'),
  'the orientation landscape': numbered('@page { size: landscape }'),
  'turned sheets': numbered('@page { page-orientation: rotate-left }'),
  'named sheets': numbered('@page w { size: A4 landscape } .pb { page: w }'),
  'a named sheet for all': numbered('@page w { size: A4 landscape !important; margin: 1cm } body { page: w }'),
  breaks: numbered('.pb { break-before: page }'),
  'important breaks': numbered('.pb { break-before: page !important }'),
  'important breaks in a layer': numbered('@layer a { .pb { break-before: page !important } }'),
  'breaks by their old names': numbered('.pb { page-break-after: always !important }'),
  'breaks of generated content': numbered('.pb::before { content: ""; display: block; break-after: page !important }'),
  'breaks in columns of flex and grid': numbered(
    'html { display: flex } body { display: grid } .pb { break-before: left }',
  ),
  'breaks in an open shadow tree': inShadow('open', '.pb { break-before: page !important }'),
  'breaks in a closed shadow tree': inShadow('closed', '.pb { break-before: page !important }'),
  'breaks in an open shadow tree within a closed one': numbered(
    '',
    `<main><template shadowrootmode=closed>${inShadow('open', '.pb { break-before: page !important }')}</template></main>`,
  ),
  'breaks of a host': inShadow('open', ':host { break-after: page !important } .pb::after { content: "" }'),
  'breaks of slotted elements': numbered(
    '',
    `<div><template shadowrootmode=open><style>::slotted(.pb) { break-before: page !important }</style><slot></slot>
      </template>${PARAGRAPHS}</div>`,
  ),
  'spaces that follow the window': numbered('p.pb { height: auto; padding: 10vh 0; line-height: 155px }'),
  'rows of a grid that follow the window': numbered(
    'body { display: grid; grid-template-rows: 50vh repeat(5, 300px) 240px } p { height: auto }',
  ),
  'minimum heights that are shares of the window': numbered(
    'html, body { height: 100%; min-height: 100% } main { height: 100% !important; min-height: 100%; max-height: 100% }',
    '<main>1 2 3</main><main>4 5 6</main><p style="height: 660px">last',
  ),
  'a shadow tree as high as the window': numbered(
    '',
    `<div><template shadowrootmode=open><style>section { height: 100vh }</style><section>1 2 3</section>
      <section>4 5 6</section></template></div><p style="height: 660px">last`,
  ),
  'breaks in a table': numbered(
    'table { border-spacing: 0 } td { height: 300px; padding: 0 } .pb { break-before: page !important }',
    '<table><tr><td>1<tr class=pb><td>2<tr><td>3<tr class=pb><td>4<tr><td>5<tr><td>6<tr><td>last</table>',
  ),
};

/** Length in points of a sheet that holds this many pixels between the usual margins. */
const heightOnPaper = (pixels: number) => (pixels * 72) / 96 + (2 * 10 * 72) / 25.4;

const near = (sheet: readonly number[] | undefined, size: readonly number[]) =>
  size.every((side, at) => Math.abs(Number(sheet?.[at]) - side) <= 1);

/** Returns how far texts are from the left edge of their sheets, in points. */
async function leftsOf(image: Uint8Array): Promise<number[]> {
  const pdf = await getDocument({ data: Uint8Array.from(image), verbosity: 0 }).promise;
  const found = new Set<number>();
  for (let sheet = 1; sheet <= pdf.numPages; sheet += 1) {
    const { items } = await (await pdf.getPage(sheet)).getTextContent();
    for (const item of items) if ('str' in item && item.str.trim() !== '') found.add(Math.round(item.transform[4]));
  }
  await pdf.destroy();
  return [...found];
}

/** Returns the titles of the outline with those below them. */
async function outlineOf(image: Uint8Array): Promise<[string, string[]][]> {
  const pdf = await getDocument({ data: Uint8Array.from(image), verbosity: 0 }).promise;
  const outline = (await pdf.getOutline()) ?? [];
  await pdf.destroy();
  return outline.map(({ title, items }) => [title, items.map((item: { title: string }) => item.title)]);
}

function text(pdf: Uint8Array): string {
  return Buffer.from(pdf).toString('latin1');
}

/** Returns the text of each sheet. */
async function textOf({ image }: Pick<Snapshot, 'image'>): Promise<string[]> {
  const pdf = await getDocument({ data: Uint8Array.from(image), verbosity: 0 }).promise;
  const texts: string[] = [];
  for (let sheet = 1; sheet <= pdf.numPages; sheet += 1) {
    const { items } = await (await pdf.getPage(sheet)).getTextContent();
    texts.push(
      items
        .map((item) => ('str' in item ? item.str : ''))
        .join(' ')
        .replaceAll(/\s+/g, ' ')
        .trim(),
    );
  }
  await pdf.destroy();
  return texts;
}

/** Returns width and height of each sheet, in points. */
function sheetsOf(pdf: Uint8Array): number[][] {
  expect(text(pdf).slice(0, 5)).toBe('%PDF-');
  const boxes = text(pdf).matchAll(/\/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]/g);
  return [...boxes].map(([, width, height]) => [Math.floor(Number(width)), Math.round(Number(height))]);
}
