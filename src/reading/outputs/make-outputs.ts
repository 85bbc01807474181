import type { OutputKind } from '../../capture/artifacts/artifacts.ts';
import { type Deadline, within } from '../../capture/deadline.ts';
import { type CaptureRequest, outputsOf } from '../../capture/request.ts';
import type { Output, Outputs } from '../../capture/result/snapshot.ts';
import { CdpClosedError } from '../../cdp/connection.ts';
import { evaluate, OUTPUT_WORLD } from '../../page/asking/ask-page.ts';
import type { Call } from '../../page/asking/page-scripts.ts';
import { inParts, wholeText } from '../../page/asking/text-in-parts.ts';
import type { EvaluatedFrame } from '../../page/frames/page-session.ts';
import type { IsolatedPage } from '../../page/isolated-page.ts';
import type { Screenshot } from '../../page/screenshot/screenshot.ts';
import type { Reading } from '../documents/reading.ts';
import { readAccessibility } from './accessibility.ts';
import { describeRoles } from './aria.ts';
import { extractValues } from './extract/extract-values.ts';
import { archiveRequests } from './har.ts';
import { readLinks } from './links.ts';
import { readBlocks, readMarkdown } from './markdown.ts';
import { readMetadata } from './metadata.ts';
import { archivePage } from './mhtml.ts';
import { readText } from './text.ts';

/** Time limit of each output in milliseconds, and its share of the remaining time. */
const OUTPUT_MS = 8_000;
const OUTPUT_SHARE = 0.4;

const MAKERS: Readonly<Record<OutputKind, (reading: Reading) => Promise<Output>>> = {
  markdown: readMarkdown,
  blocks: readBlocks,
  text: readText,
  links: readLinks,
  metadata: readMetadata,
  mhtml: archivePage,
  har: archiveRequests,
  aria: describeRoles,
  accessibility: readAccessibility,
  extract: extractValues,
};

/**
 * Makes the outputs that a request names, one after the other, when the image and the HTML snapshot are there. An
 * output that is not made in time, or whose document was replaced, is null. Rejects only when the capture is cancelled
 * or late.
 */
export async function makeOutputs(
  page: IsolatedPage,
  request: CaptureRequest,
  deadline: Deadline,
  screenshot: Screenshot,
): Promise<Outputs> {
  const made: { [kind in OutputKind]?: Output | null } = {};
  const { document } = page.frame;
  for (const kind of outputsOf(request)) {
    const ms = Math.min(OUTPUT_MS, deadline.remainingMs * OUTPUT_SHARE);
    const reading = { ...inWorld(OUTPUT_WORLD, page, ms), request, screenshot, deadline };
    const making = MAKERS[kind](reading).catch((error: unknown) => {
      if (error instanceof CdpClosedError) throw error;
      return null;
    });
    const output = await deadline.step(`make the output ${kind}`, within(ms, making, null));
    made[kind] = page.frame.document === document ? output : null;
  }
  return made;
}

/** Returns a reading of this page in a world, within `ms`. */
export function inWorld(world: string, page: IsolatedPage, ms: number): Pick<Reading, 'world' | 'page' | 'ms' | 'ask'> {
  return { world, page, ms, ask: (script, max = ms, document = page) => callWithin(document, world, max, script) };
}

/** Calls a script; the browser ends it after this time. Long answers come in parts. */
async function callWithin(page: EvaluatedFrame, world: string, ms: number, script: Call): Promise<unknown> {
  const ask = (asked: Call) => evaluate(page, asked, { world, timeoutMs: ms });
  const text = await wholeText(ask, inParts(script));
  return text === undefined ? undefined : JSON.parse(text);
}
