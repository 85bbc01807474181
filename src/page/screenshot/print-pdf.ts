import type { Protocol } from 'devtools-protocol';
import type { Deadline } from '../../capture/deadline.ts';
import { CapstanError } from '../../capture/errors.ts';
import {
  DEFAULT_MARGIN,
  MAX_PAPER,
  type PaperFormat,
  type PdfOptions,
  readSheetRanges,
  type SheetRange,
} from '../../capture/options/pdf.ts';
import { CdpError } from '../../cdp/connection.ts';
import { askPage } from '../asking/ask-page.ts';
import { call } from '../asking/page-scripts.ts';
import { readStream } from '../asking/read-stream.ts';
import type { PageSession } from '../frames/page-session.ts';
import type { IsolatedPage } from '../isolated-page.ts';
import { retryScreenshot } from './retry-screenshot.ts';
import type { Screenshot } from './screenshot.ts';
import { ON_PAPER } from './screenshot-size.ts';
import type { ShotPlan } from './shot-plan.ts';
import { sizeOfSheet } from './single-sheet.ts';

/** Paper sizes in inches, in portrait orientation, from ISO 216 and ANSI. */
const PAPER: Readonly<Record<PaperFormat, readonly [width: number, height: number]>> = {
  A3: [11.69, 16.54],
  A4: [8.27, 11.69],
  A5: [5.83, 8.27],
  Letter: [8.5, 11],
  Legal: [8.5, 14],
  Tabloid: [11, 17],
};
const MM_PER_INCH = 25.4;
const PX_PER_INCH = 96;

/** Maximum number of sheets, and the smaller maximums to try when the PDF has too many bytes. */
const MAX_SHEETS = 200;
const SHEETS = [MAX_SHEETS, 20, 1];
const MAX_BYTES = 64 * 1024 * 1024;
/** Bytes read at once; the event loop is blocked for each read. */
const READ_BYTES = 256 * 1024;

/**
 * Prints the page, or its requested sheets, on as many sheets as needed: at most 200, and at most 64 MiB. Throws
 * `not_a_page` when even the first sheet is larger, and `selector_not_found` when the page has none of these sheets.
 */
export async function printPdf(page: IsolatedPage, plan: ShotPlan, deadline: Deadline): Promise<Screenshot> {
  const { session } = page;
  const { pdf: options } = plan;
  const usual = parametersOf(options);
  await overridePageRules(page, options, deadline);
  const parameters = options.singlePage ? await onOneSheet(page, plan, deadline, usual) : usual;
  const ranges = readSheetRanges(options.pageRanges ?? '1-') ?? [];
  for (const max of SHEETS) {
    const { taken, left } = splitRanges(ranges, max);
    const print = () => printSheets(session, { ...parameters, pageRanges: textOf(taken) });
    const { answer, isPartial } = await retryScreenshot(page, deadline, print);
    if (answer === null) {
      throw new CapstanError('selector_not_found', `the page has none of the sheets ${options.pageRanges ?? '1-'}`);
    }
    const image = await deadline.step('read the print', readPrint(session, answer.stream));
    if (image === null) continue;
    const cut = max < MAX_SHEETS;
    const full = left.length > 0 && sheetsOf(image) === MAX_SHEETS;
    const next = () => canPrint(session, { ...parameters, pageRanges: textOf(splitRanges(left, 1).taken) });
    const truncated = cut || (full && (await deadline.step('count the sheets', next())));
    return { image, part: null, isPartial, ...ON_PAPER, truncatedBy: truncated ? 'limit' : '' };
  }
  throw new CapstanError('not_a_page', `its first sheet alone is more than ${MAX_BYTES} bytes as a PDF`);
}

function parametersOf(options: PdfOptions): Protocol.Page.PrintToPDFRequest {
  const { paper, width, height, margin = DEFAULT_MARGIN, headerTemplate, footerTemplate } = options;
  const [paperWidth, paperHeight] = PAPER[paper];
  const inches = margin / MM_PER_INCH;
  return {
    paperWidth: width === undefined ? paperWidth : width / MM_PER_INCH,
    paperHeight: height === undefined ? paperHeight : height / MM_PER_INCH,
    landscape: options.landscape ?? false,
    preferCSSPageSize: options.preferCssPageSize,
    scale: options.scale,
    marginTop: inches,
    marginRight: inches,
    marginBottom: inches,
    marginLeft: inches,
    printBackground: options.background,
    generateDocumentOutline: options.outline,
    // In place of a missing template, Chromium prints date, title and address.
    ...((headerTemplate ?? footerTemplate) !== undefined && {
      displayHeaderFooter: true,
      headerTemplate: headerTemplate ?? NOTHING,
      footerTemplate: footerTemplate ?? NOTHING,
    }),
    transferMode: 'ReturnAsStream',
  };
}
const NOTHING = '<span></span>';

/** Makes the sheet as large as the page, up to the longest side that the PDF format allows. */
async function onOneSheet(
  page: IsolatedPage,
  plan: ShotPlan,
  deadline: Deadline,
  { paperWidth = 0, paperHeight = 0, ...parameters }: Protocol.Page.PrintToPDFRequest,
): Promise<Protocol.Page.PrintToPDFRequest> {
  const { landscape, margin = DEFAULT_MARGIN, scale } = plan.pdf;
  const margins = (2 * margin) / MM_PER_INCH;
  const pixels = (inches: number) => Math.max(1, Math.floor(((inches - margins) * PX_PER_INCH) / scale));
  const inches = (length: number) => Math.min(MAX_PAPER / MM_PER_INCH, (length * scale) / PX_PER_INCH + margins);
  const width = landscape ? paperHeight : paperWidth;
  const sheet = await sizeOfSheet(page, plan, deadline, pixels(width));
  return {
    ...parameters,
    landscape: false,
    paperWidth: Math.max(width, inches(sheet.width)),
    paperHeight: inches(sheet.height),
  };
}

interface SplitRanges {
  readonly taken: readonly SheetRange[];
  readonly left: readonly SheetRange[];
}

/** Splits ranges after their first `max` sheets. */
function splitRanges(ranges: readonly SheetRange[], max: number): SplitRanges {
  const taken: SheetRange[] = [];
  const left: SheetRange[] = [];
  let room = max;
  for (const { first, last } of ranges) {
    const end = Math.min(last, first + room - 1);
    if (room > 0) taken.push({ first, last: end });
    if (last > end) left.push({ first: end + 1, last });
    room = Math.max(0, room - (end - first + 1));
  }
  return { taken, left };
}

function textOf(ranges: readonly SheetRange[]): string {
  return ranges.map(({ first, last }) => `${first}-${last}`).join(',');
}

/** Resolves with null when the print is larger than the maximum. */
async function readPrint(session: PageSession, handle: string | undefined): Promise<Buffer | null> {
  if (handle === undefined) throw new TypeError('the browser printed nothing that could be read');
  try {
    const parts = await readStream(session, handle, READ_BYTES, MAX_BYTES);
    return parts && Buffer.concat(parts);
  } finally {
    session.post('IO.close', { handle });
  }
}

/** Reads the page count: the largest count in the page tree is that of its root. */
function sheetsOf(pdf: Buffer): number {
  let max = 0;
  for (let at = pdf.indexOf(COUNT); at !== -1; at = pdf.indexOf(COUNT, at + COUNT.length)) {
    const digits = pdf.toString('latin1', at + COUNT.length, at + COUNT.length + 6);
    max = Math.max(max, Number.parseInt(digits, 10) || 0);
  }
  return max;
}
const COUNT = '/Count ';

async function canPrint(session: PageSession, parameters: Protocol.Page.PrintToPDFRequest): Promise<boolean> {
  const answer = await printSheets(session, parameters);
  if (answer?.stream !== undefined) session.post('IO.close', { handle: answer.stream });
  return answer !== null;
}

/** Resolves with null when the page has none of the sheets. */
async function printSheets(session: PageSession, parameters: Protocol.Page.PrintToPDFRequest) {
  try {
    return await session.send('Page.printToPDF', parameters);
  } catch (error) {
    if (error instanceof CdpError && error.message.includes(NO_SUCH_SHEET)) return null;
    throw error;
  }
}
const NO_SUCH_SHEET = 'Page range exceeds page count';

/**
 * Lets the caller's choice of the sheet win over the page's `@page` rules, which Chromium heeds before its arguments.
 */
async function overridePageRules(
  page: IsolatedPage,
  { singlePage, landscape, margin, preferCssPageSize }: PdfOptions,
  deadline: Deadline,
): Promise<void> {
  const isSized = singlePage || (landscape !== undefined && !preferCssPageSize);
  const hasMargins = singlePage || margin !== undefined;
  const declarations = {
    ...(isSized ? { size: 'auto', 'page-orientation': 'upright' } : {}),
    ...(hasMargins ? { margin: `${margin ?? DEFAULT_MARGIN}mm` } : {}),
  };
  if (!isSized && !hasMargins) return;
  await askPage(page, deadline, 'prepare the sheets', call('overridePageRules', declarations));
}
