import {
  attribute,
  bodyOf,
  canvasWidthOf,
  cloneOf,
  closest,
  firstOf,
  type PageElement,
  page,
  parentElementOf,
  remove,
  replaceWith,
  select,
  setAttribute,
  setCanvasHeight,
  setCanvasWidth,
  setTitle,
  urlOf,
} from '../dom/dom.ts';
import { resolved } from '../dom/urls.ts';
import { type Blob, web } from '../dom/web.ts';
import { layOut, type Placed } from '../pdf/lay-out.ts';
import { importPdfJs, type Pdf, type PdfJs } from '../pdf/pdfjs.ts';
import type { ViewerTask } from '../pdf/viewer-task.ts';

/** Maximum number of pixels of all canvases together. Each takes 4 bytes. */
const MAX_PIXELS = 128 * 1024 * 1024;

/**
 * Makes the first `maxFrames` elements `<embed>` and `<object>` of PDFs load them into frames, as if they were HTML, where
 * a browser has no viewer. Returns their number. An element whose `blob:` URL leads to no PDF of at most `maxBytes` keeps
 * its fallback.
 */
export async function framePdfs(maxFrames: number, maxBytes: number): Promise<number> {
  if (web.navigator.pdfViewerEnabled) return 0;
  const named = select(page, 'embed, object').filter((element) => isPdf(element) && !isFallback(element));
  const found: PageElement[] = [];
  for (const element of named) {
    if (found.length >= maxFrames) break;
    if (await canBeRead(element, maxBytes)) found.push(element);
  }
  for (const element of found) {
    // An object that shows its fallback ignores another type.
    const copy = cloneOf(element, true);
    setAttribute(copy, 'type', 'text/html');
    replaceWith(element, copy);
  }
  return found.length;
}

function isPdf(element: PageElement): boolean {
  const url = urlIn(element);
  if (url === null || !/^(?:https?|data|blob):$/.test(url.protocol)) return false;
  const type = attribute(element, 'type') ?? '';
  if (type !== '') return /^application\/(?:x-)?pdf\b/i.test(type.trim());
  return /^data:application\/pdf\b|\.pdf(?:[?#]|$)/i.test(url.href);
}

function urlIn(element: PageElement) {
  return resolved(attribute(element, 'src') ?? attribute(element, 'data') ?? '', element);
}

async function canBeRead(element: PageElement, maxBytes: number): Promise<boolean> {
  const url = urlIn(element);
  if (url?.protocol !== 'blob:') return true;
  return (await readPdf(url.href, maxBytes).catch(() => null)) !== null;
}

/** Returns whether the document is the empty one that a frame has before its first, and keeps when that is a download. */
export function isInitial(): boolean {
  const body = bodyOf(page);
  return urlOf(page) === 'about:blank' && body !== null && firstOf(body) === null;
}

/** Reads a `blob:` URL of the document; null when it leads to more than `maxBytes`, or to no PDF. */
export async function readPdf(url: string, maxBytes: number): Promise<Blob | null> {
  const response = await web.fetch(url);
  if (Number(response.headers.get('content-length')) > maxBytes) {
    await response.body?.cancel();
    return null;
  }
  const blob = await response.blob();
  const isPdfFile = blob.type === 'application/pdf' || (await blob.slice(0, 5).text()) === '%PDF-';
  return isPdfFile ? blob : null;
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

/** Reads a document of this size, which comes in parts. @throws when another page has read some of it */
async function readDocument(url: string, bytes: number): Promise<Uint8Array> {
  const data = new Uint8Array(bytes);
  for (let at = 0; at < data.length; ) {
    const response = await web.fetch(url);
    if (!response.ok) throw new Error('the PDF was already read');
    const piece = new Uint8Array(await response.arrayBuffer());
    data.set(piece, at);
    at += piece.length;
  }
  return data;
}

/** Draws pages on their canvases, as sharp as the window if there are few enough. */
async function drawAll(pages: readonly Placed[]): Promise<void> {
  const area = pages.reduce((sum, { shownWidth, shownHeight }) => sum + shownWidth * shownHeight, 0);
  const sharpness = Math.min(web.devicePixelRatio, Math.sqrt(MAX_PIXELS / area));
  // A page that cannot be drawn stays white, as in other viewers.
  for (const placed of pages) await draw(placed, sharpness).catch(() => undefined);
}

async function draw({ sheet, canvas, shownWidth, shownHeight }: Placed, sharpness: number): Promise<void> {
  setCanvasWidth(canvas, Math.max(1, Math.floor(shownWidth * sharpness)));
  setCanvasHeight(canvas, Math.max(1, Math.floor(shownHeight * sharpness)));
  const viewport = sheet.getViewport({ scale: canvasWidthOf(canvas) / sheet.getViewport({ scale: 1 }).width });
  await sheet.render({ canvas, viewport }).promise;
}
