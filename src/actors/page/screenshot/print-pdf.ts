import type { Protocol } from 'devtools-protocol';
import { CapstanError } from '../../../capture/errors.ts';
import type { PaperFormat, PdfOptions } from '../../../capture/options/pdf.ts';
import { CdpError } from '../../cdp/connection.ts';
import type { Deadline } from '../../deadline.ts';
import type { IsolatedPage, PageSession } from '../isolated-page.ts';
import { retryScreenshot } from './retry-screenshot.ts';
import { ON_PAPER } from './screenshot-size.ts';
import type { Picture } from './take-screenshot.ts';

/** Inches, upright, as ISO 216 and ANSI have them. */
const PAPER: Readonly<Record<PaperFormat, readonly [width: number, height: number]>> = {
  A3: [11.69, 16.54],
  A4: [8.27, 11.69],
  A5: [5.83, 8.27],
  Letter: [8.5, 11],
  Legal: [8.5, 14],
  Tabloid: [11, 17],
};
const MM_PER_INCH = 25.4;

/** Most sheets, and what is tried when that many come to more bytes than are taken. */
const MAX_SHEETS = 200;
const SHEETS = [MAX_SHEETS, 20, 1];
const MAX_BYTES = 64 * 1024 * 1024;
/** The event loop is held for each at once. */
const READ_BYTES = 256 * 1024;

/**
 * The page as it prints, on as many sheets as it takes: 200 at most, in at most 64 MiB. Throws `not_a_page` when not
 * even its first sheet can be had in that.
 */
export async function printPdf(page: IsolatedPage, options: PdfOptions, deadline: Deadline): Promise<Picture> {
  const { session } = page;
  const parameters = parametersOf(options);
  for (const most of SHEETS) {
    const print = () => session.send('Page.printToPDF', { ...parameters, pageRanges: `1-${most}` });
    const { answer, held } = await retryScreenshot(page, deadline, print);
    const image = await deadline.step('read the print', readStream(session, answer.stream));
    if (image === null) continue;
    const cut = most < MAX_SHEETS;
    const full = sheetsOf(image) === MAX_SHEETS;
    const next = { ...parameters, pageRanges: String(MAX_SHEETS + 1) };
    const truncated = cut || (full && (await deadline.step('count the sheets', canPrint(session, next))));
    return { image, held, ...ON_PAPER, truncated };
  }
  throw new CapstanError('not_a_page', `its first sheet alone is more than ${MAX_BYTES} bytes as a PDF`);
}

function parametersOf(options: PdfOptions): Protocol.Page.PrintToPDFRequest {
  const { paper, landscape, margin, scale, background } = options;
  const [paperWidth, paperHeight] = PAPER[paper];
  const inches = margin / MM_PER_INCH;
  return {
    paperWidth,
    paperHeight,
    landscape,
    scale,
    marginTop: inches,
    marginRight: inches,
    marginBottom: inches,
    marginLeft: inches,
    printBackground: background,
    transferMode: 'ReturnAsStream',
  };
}

/** All of a stream of the browser; null when it is more than is taken. */
async function readStream(session: PageSession, handle: string | undefined): Promise<Buffer | null> {
  if (handle === undefined) throw new TypeError('the browser printed nothing that could be read');
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for (;;) {
      const { data, eof, base64Encoded } = await session.send('IO.read', { handle, size: READ_BYTES });
      const chunk = Buffer.from(data, base64Encoded === true ? 'base64' : 'latin1');
      bytes += chunk.byteLength;
      if (bytes > MAX_BYTES) return null;
      chunks.push(chunk);
      if (eof) return Buffer.concat(chunks);
    }
  } finally {
    session.post('IO.close', { handle });
  }
}

/** As the root of its tree of pages says, which counts more than the branches do. */
function sheetsOf(pdf: Buffer): number {
  let most = 0;
  for (let at = pdf.indexOf(COUNT); at !== -1; at = pdf.indexOf(COUNT, at + COUNT.length)) {
    const digits = pdf.toString('latin1', at + COUNT.length, at + COUNT.length + 6);
    most = Math.max(most, Number.parseInt(digits, 10) || 0);
  }
  return most;
}
const COUNT = '/Count ';

async function canPrint(session: PageSession, parameters: Protocol.Page.PrintToPDFRequest): Promise<boolean> {
  try {
    const { stream } = await session.send('Page.printToPDF', parameters);
    if (stream !== undefined) session.post('IO.close', { handle: stream });
    return true;
  } catch (error) {
    // "Page range exceeds page count"
    if (error instanceof CdpError) return false;
    throw error;
  }
}
