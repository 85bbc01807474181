import { z } from 'zod';
import { call, type ResultOf } from '../../page/asking/page-scripts.ts';
import type { BrowserHost } from '../browser-host.ts';
import { evaluateInPage } from './evaluate-in-page.ts';

const Seen: z.ZodType<ResultOf<'visitorDefaults'>> = z.object({
  language: z.string(),
  formats: z.string(),
  timeZone: z.string(),
});

/** Returns what pages see by default: the language of the visitor and of formats, and the time zone. */
export async function visitorDefaults(host: BrowserHost): Promise<ResultOf<'visitorDefaults'>> {
  return Seen.parse(await evaluateInPage(host, call('visitorDefaults')));
}
