import {
  append,
  bodyOf,
  clientWidthOf,
  createHtml,
  type PageElement,
  page,
  scrollHeightOf,
  selectOne,
} from '../dom/dom.ts';
import { styleOf } from '../dom/styles.ts';
import type { Pdf, PdfPage } from './pdfjs.ts';

/** Maximum number of pages in the layout; a screenshot shows fewer. */
const MAX_PAGES = 2_000;
/** Space at both sides of a page, in CSS pixels: twice the padding of `main`. */
const MARGINS = 16;

/** A page of a document, and the canvas for it. Sizes are in CSS pixels. */
export interface Placed {
  readonly sheet: PdfPage;
  readonly canvas: PageElement;
  readonly shownWidth: number;
  readonly shownHeight: number;
}

/** Makes place for the pages of a document. Returns those that begin above `drawnHeight`. */
export async function layOut(pdf: Pdf, drawnHeight: number): Promise<Placed[]> {
  const [main, body] = [selectOne(page, 'main'), bodyOf(page)];
  if (main === null || body === null) throw new Error('the viewer page is not complete');
  const seen: Placed[] = [];
  const count = Math.min(pdf.numPages, MAX_PAGES);
  let first: PdfPage | undefined;
  for (let number = 1; number <= count; number += 1) {
    // Pages too far down to be seen are assumed to have the size of the first page.
    const assumed = scrollHeightOf(body) < drawnHeight ? undefined : first;
    const sheet = assumed ?? (await pdf.getPage(number));
    first ??= sheet;
    const placed = place(main, sheet);
    if (assumed === undefined) seen.push(placed);
  }
  return seen;
}

function place(main: PageElement, sheet: PdfPage): Placed {
  const { width, height } = sheet.getViewport({ scale: 1 });
  const shownWidth = clientWidthOf(main) - MARGINS;
  const shownHeight = Math.max(1, Math.round((shownWidth * height) / width));
  const canvas = createHtml('canvas');
  const style = styleOf(canvas);
  style?.setProperty('width', `${shownWidth}px`);
  style?.setProperty('height', `${shownHeight}px`);
  append(main, canvas);
  return { sheet, canvas, shownWidth, shownHeight };
}
