import { page, remove, select, setTitle } from '../dom.ts';
import { drawAll } from '../pdf/draw.ts';
import { layOut } from '../pdf/lay-out.ts';
import { importPdfJs, type Pdf, type PdfJs } from '../pdf/pdfjs.ts';
import { readDocument } from '../pdf/read-document.ts';
import type { ViewerTask } from '../pdf/viewer-task.ts';
import { web } from '../web.ts';

/**
 * Draws a PDF on the viewer page, and reports the outcome by requesting `/says?word=...` of the viewer's origin. It is
 * the module of that page, so it runs in the page's own world.
 */
export async function run(origin: string, { name, drawnHeight, bytes }: ViewerTask): Promise<void> {
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
