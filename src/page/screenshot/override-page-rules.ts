import type { Deadline } from '../../capture/deadline.ts';
import { DEFAULT_MARGIN, type PdfOptions } from '../../capture/options/pdf.ts';
import { askPage } from '../ask-page.ts';
import type { IsolatedPage } from '../isolated-page.ts';
import { call } from '../page-scripts.ts';

/** Lets the caller's choice of the sheet win over the page's `@page` rules, which Chromium heeds before its arguments. */
export async function overridePageRules(
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
