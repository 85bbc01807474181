import type { PageElement } from '../dom/dom.ts';

/* PDF.js, as far as the viewer uses it. Its own types need those of the DOM. */

export interface PdfJs {
  getDocument(source: PdfSource): { readonly promise: Promise<Pdf> };
}

interface PdfSource {
  readonly data: Uint8Array;
  readonly cMapUrl: string;
  readonly standardFontDataUrl: string;
  readonly wasmUrl: string;
  readonly iccUrl: string;
  readonly isEvalSupported: false;
  readonly verbosity: 0;
}

export interface Pdf {
  readonly numPages: number;
  getMetadata(): Promise<{ readonly info: { readonly Title?: unknown } }>;
  getPage(number: number): Promise<PdfPage>;
}

export interface PdfPage {
  getViewport(options: { scale: number }): PdfViewport;
  render(options: { canvas: PageElement; viewport: PdfViewport }): { readonly promise: Promise<void> };
}

interface PdfViewport {
  readonly width: number;
  readonly height: number;
}

/**
 * Imports PDF.js, and its worker, which then works on the page's own thread. The bundler leaves imports of URLs alone.
 */
export async function importPdfJs(origin: string): Promise<PdfJs> {
  const [pdfjs]: [PdfJs, unknown] = await Promise.all([
    import(`${origin}/build/pdf.min.mjs`),
    import(`${origin}/build/pdf.worker.min.mjs`),
  ]);
  return pdfjs;
}
