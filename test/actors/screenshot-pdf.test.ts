import { getDocument } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { describe, expect, it } from 'vitest';
import type { CaptureOptions } from '../../src/capture/request.ts';
import type { Snapshot } from '../../src/capture/snapshot.ts';
import { failureOf } from '../support/actor.ts';
import { LATE } from '../support/capture-request.ts';
import { siteAndActor } from '../support/site-and-actor.ts';

describe.concurrent('a PDF', () => {
  const ground = siteAndActor();

  const capture = (path: string, overrides: CaptureOptions = {}) =>
    ground.capture(path, { format: 'pdf', ...overrides });

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

  it('shows what is there of a page that never finishes loading', async () => {
    const snapshot = await capture('/never', LATE);
    expect(snapshot.cutPhase).toBe('load');
    expect(sheetsOf(snapshot.image)).toHaveLength(1);
  });
});

const A4 = [595, 842];

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
