import type { PaperFormat, PdfOptions } from '../../../capture-request.ts';
import type { Deadline } from '../../deadline.ts';
import type { IsolatedPage } from '../isolated-page.ts';

/** Inches, upright, as ISO 216 and ANSI have them. */
const PAPER: Readonly<Record<PaperFormat, readonly [width: number, height: number]>> = {
  A3: [11.69, 16.54],
  A4: [8.27, 11.69],
  A5: [5.83, 8.27],
  Letter: [8.5, 11],
  Legal: [8.5, 14],
  Tabloid: [11, 17],
};
const DEFAULT_MARGIN_MM = 10;
const MM_PER_INCH = 25.4;

/** The page as it prints, on as many sheets as it takes. */
export async function printPdf(page: IsolatedPage, options: PdfOptions, deadline: Deadline): Promise<Uint8Array> {
  const { paper = 'A4', landscape = false, margin = DEFAULT_MARGIN_MM, scale = 1, background = true } = options;
  const [paperWidth, paperHeight] = PAPER[paper];
  const inches = margin / MM_PER_INCH;
  const printed = page.session.send('Page.printToPDF', {
    paperWidth,
    paperHeight,
    landscape,
    scale,
    marginTop: inches,
    marginRight: inches,
    marginBottom: inches,
    marginLeft: inches,
    printBackground: background,
  });
  const { data } = await deadline.step('print the page', printed);
  return Buffer.from(data, 'base64');
}
