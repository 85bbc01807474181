/*
 * The page that draws a PDF with PDF.js, on the page's own thread. All its requests go to an origin that exists on no
 * network; `pdf-viewer.ts` answers them.
 */

export const VIEWER_ORIGIN = 'https://pdf-viewer.invalid';

/** Parameters of the viewer page. */
export interface ViewerTask {
  /** The title for a document that names none. */
  readonly name: string;
  /** Height to draw, in CSS pixels from the top; null draws what the window shows. */
  readonly drawnHeight: number | null;
  /** Size of the document in bytes. */
  readonly bytes: number;
}

/** Allows only the viewer's own files, and nothing that a document contains. */
export const VIEWER_POLICY = [
  "default-src 'none'",
  `script-src ${VIEWER_ORIGIN} 'wasm-unsafe-eval'`,
  `connect-src ${VIEWER_ORIGIN}`,
  "style-src 'unsafe-inline'",
  'img-src data: blob:',
  'font-src data: blob:',
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/** A request for `done.js` is answered when everything is drawn, which delays the page's load event until then. */
export const VIEWER_HTML = `<!doctype html>
<html><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title></title>
<style>
html, body { margin: 0; background: #525659; }
main { display: flex; flex-direction: column; align-items: center; gap: 10px; padding: 8px; }
canvas { display: block; background: #fff; }
</style></head>
<body><main></main>
<script type="module" src="${VIEWER_ORIGIN}/viewer.mjs"></script>
<script defer src="${VIEWER_ORIGIN}/done.js"></script>
</body></html>
`;

/** Maximum number of pages in the layout; a screenshot shows fewer. */
const MAX_PAGES = 2_000;
/** Maximum number of pixels of all canvases together. Each takes 4 bytes. */
const MAX_PIXELS = 128 * 1024 * 1024;

/** The module that draws. It reports the outcome by requesting `/says?...`. */
export function viewerModule({ name, drawnHeight, bytes }: ViewerTask): string {
  return `
import * as pdfjs from '${VIEWER_ORIGIN}/build/pdf.min.mjs';
import '${VIEWER_ORIGIN}/build/pdf.worker.min.mjs';

const name = ${JSON.stringify(name)};
const drawnHeight = ${JSON.stringify(drawnHeight)} ?? innerHeight;
const says = (word) => fetch('${VIEWER_ORIGIN}/says?' + new URLSearchParams({ word }));

const read = async () => {
  const data = new Uint8Array(${bytes});
  for (let at = 0; at < data.length; ) {
    const response = await fetch('${VIEWER_ORIGIN}/document');
    if (!response.ok) throw new Error('the PDF was already read');
    const piece = new Uint8Array(await response.arrayBuffer());
    data.set(piece, at);
    at += piece.length;
  }
  return data;
};

const place = (page) => {
  const main = document.querySelector('main');
  const { width, height } = page.getViewport({ scale: 1 });
  const shownWidth = main.clientWidth - 16;
  const shownHeight = Math.max(1, Math.round((shownWidth * height) / width));
  const canvas = document.createElement('canvas');
  canvas.style.width = shownWidth + 'px';
  canvas.style.height = shownHeight + 'px';
  main.append(canvas);
  return { page, canvas, shownWidth, shownHeight };
};

const draw = async ({ page, canvas, shownWidth, shownHeight }, sharpness) => {
  canvas.width = Math.max(1, Math.floor(shownWidth * sharpness));
  canvas.height = Math.max(1, Math.floor(shownHeight * sharpness));
  const viewport = page.getViewport({ scale: canvas.width / page.getViewport({ scale: 1 }).width });
  await page.render({ canvas, viewport }).promise;
};

try {
  const loading = pdfjs.getDocument({
    data: await read(),
    cMapUrl: '${VIEWER_ORIGIN}/cmaps/',
    standardFontDataUrl: '${VIEWER_ORIGIN}/standard_fonts/',
    wasmUrl: '${VIEWER_ORIGIN}/wasm/',
    iccUrl: '${VIEWER_ORIGIN}/iccs/',
    isEvalSupported: false,
    verbosity: 0,
  });
  const opened = await loading.promise;
  const { info } = await opened.getMetadata().catch(() => ({ info: {} }));
  document.title = String(info.Title ?? '').trim() || name;
  const pages = [];
  const count = Math.min(opened.numPages, ${MAX_PAGES});
  let first;
  for (let number = 1; number <= count; number += 1) {
    // Pages too far down to be seen are assumed to have the size of the first page.
    const seen = number === 1 || document.body.scrollHeight < drawnHeight;
    const page = seen ? await opened.getPage(number) : first;
    first ??= page;
    const placed = place(page);
    if (seen) pages.push(placed);
  }
  await says('opened');
  const area = pages.reduce((sum, { shownWidth, shownHeight }) => sum + shownWidth * shownHeight, 0);
  const sharpness = Math.min(devicePixelRatio, Math.sqrt(${MAX_PIXELS} / area));
  // A page that cannot be drawn stays white, as in other viewers.
  for (const placed of pages) await draw(placed, sharpness).catch(() => undefined);
  for (const script of document.querySelectorAll('script')) script.remove();
  await says('drawn');
} catch (error) {
  await says(error.name === 'PasswordException' ? 'encrypted' : 'damaged');
}
`;
}
