import {
  attribute,
  cloneOf,
  closest,
  type PageElement,
  page,
  parentElementOf,
  remove,
  replaceWith,
  select,
  setAttribute,
  setTitle,
} from '../dom.ts';
import { drawAll } from '../pdf/draw.ts';
import { layOut } from '../pdf/lay-out.ts';
import { importPdfJs, type Pdf, type PdfJs } from '../pdf/pdfjs.ts';
import { readDocument } from '../pdf/read-document.ts';
import type { ViewerTask } from '../pdf/viewer-task.ts';
import { resolved } from '../urls.ts';
import { web } from '../web.ts';

/**
 * Makes each `<embed>` and `<object>` of a PDF load it into a frame, as if it were HTML, where a browser has no viewer.
 * Returns their number.
 */
export function framePdfs(): number {
  if (web.navigator.pdfViewerEnabled) return 0;
  const found = select(page, 'embed, object').filter((element) => isPdf(element) && !isFallback(element));
  for (const element of found) {
    // An object that shows its fallback ignores another type.
    const copy = cloneOf(element, true);
    setAttribute(copy, 'type', 'text/html');
    replaceWith(element, copy);
  }
  return found.length;
}

function isPdf(element: PageElement): boolean {
  const url = resolved(attribute(element, 'src') ?? attribute(element, 'data') ?? '', element);
  if (url === null || !/^https?:$/.test(url.protocol)) return false;
  const type = attribute(element, 'type') ?? '';
  return type === '' ? /\.pdf(?:[?#]|$)/i.test(url.href) : /^application\/(?:x-)?pdf\b/i.test(type.trim());
}

/** Returns whether the element is inside an `<object>`, which shows it only if it cannot show its own content. */
function isFallback(element: PageElement): boolean {
  const parent = parentElementOf(element);
  return parent !== null && closest(parent, 'object') !== null;
}

/**
 * Draws a PDF on the viewer page, and reports the outcome by requesting `/says?word=...` of the viewer's origin. It is
 * the module of that page, so it runs in the page's own world.
 */
export async function viewPdf(origin: string, { name, drawnHeight, bytes }: ViewerTask): Promise<void> {
  const says = (word: 'opened' | 'drawn' | 'encrypted' | 'damaged') => web.fetch(`${origin}/says?word=${word}`);
  const height = drawnHeight ?? web.innerHeight;
  const pdfjs = await importPdfJs(origin);
  try {
    const pdf = await open(pdfjs, origin, await readDocument(`${origin}/document`, bytes));
    setTitle(page, (await titleIn(pdf)) || name);
    const pages = await layOut(pdf, height);
    await says('opened');
    await drawAll(pages);
    for (const script of select(page, 'script')) remove(script);
    await says('drawn');
  } catch (error) {
    await says(error instanceof Error && error.name === 'PasswordException' ? 'encrypted' : 'damaged');
  }
}

function open(pdfjs: PdfJs, origin: string, data: Uint8Array): Promise<Pdf> {
  return pdfjs.getDocument({
    data,
    cMapUrl: `${origin}/cmaps/`,
    standardFontDataUrl: `${origin}/standard_fonts/`,
    wasmUrl: `${origin}/wasm/`,
    iccUrl: `${origin}/iccs/`,
    isEvalSupported: false,
    verbosity: 0,
  }).promise;
}

/** Returns the title that a document names; empty when it names none. */
async function titleIn(pdf: Pdf): Promise<string> {
  const { info } = await pdf.getMetadata().catch(() => ({ info: { Title: undefined } }));
  return String(info.Title ?? '').trim();
}
