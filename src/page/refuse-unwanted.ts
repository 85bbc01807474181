import { z } from 'zod';
import type { Deadline } from '../capture/deadline.ts';
import { CapstanError } from '../capture/errors.ts';
import type { CaptureRequest } from '../capture/request.ts';
import { askPage } from './asking/ask-page.ts';
import { call, type ResultOf } from './asking/page-scripts.ts';
import type { IsolatedPage } from './isolated-page.ts';
import type { DocumentFacts } from './observe-document.ts';

const text: z.ZodType<ResultOf<'findText'>> = z.string().nullable().catch(null);

/** Throws `unwanted_status` or `unwanted_text` for a page that the request does not want to be stored. */
export async function refuseUnwanted(
  page: IsolatedPage,
  { failOnStatus = [], failOnText = [] }: CaptureRequest,
  { responseCode }: Pick<DocumentFacts, 'responseCode'>,
  deadline: Deadline,
): Promise<void> {
  const code = String(responseCode);
  if (failOnStatus.some((status) => status === code || status === `${code[0]}xx`)) {
    throw new CapstanError('unwanted_status', `the target answered with ${code}, which failOnStatus names`);
  }
  if (failOnText.length === 0) return;
  const found = text.parse(await askPage(page, deadline, 'look for texts', call('findText', failOnText)));
  if (typeof found === 'string') {
    throw new CapstanError('unwanted_text', `the page shows ${JSON.stringify(found)}, which failOnText names`);
  }
}
