/*
 * The page that draws a PDF with PDF.js, on the page's own thread, by the script `viewPdf`. All its requests go to an
 * origin that exists on no network; `pdf-viewer.ts` answers them.
 */

export const VIEWER_ORIGIN = 'https://pdf-viewer.invalid';

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

/**
 * Returns the viewer page whose requests begin with `base`. A request for `done.js` is answered when everything is
 * drawn, which delays the page's load event until then.
 */
export function viewerHtml(base: string): string {
  return `<!doctype html>
<html><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title></title>
<style>
html, body { margin: 0; background: #525659; }
main { display: flex; flex-direction: column; align-items: center; gap: 10px; padding: 8px; }
canvas { display: block; background: #fff; }
</style></head>
<body><main></main>
<script type="module" src="${base}/viewer.mjs"></script>
<script defer src="${base}/done.js"></script>
</body></html>
`;
}
