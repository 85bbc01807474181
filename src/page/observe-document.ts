import { STATUS_CODES } from 'node:http';
import { z } from 'zod';
import type { Deadline } from '../capture/deadline.ts';
import type { Snapshot } from '../capture/result/snapshot.ts';
import type { TextBeginning } from '../page-scripts/running/in-parts.ts';
import type { Signs } from '../page-scripts/signs/read-signs.ts';
import { evaluate, unblocked } from './asking/ask-page.ts';
import { type Call, call, type ResultOf } from './asking/page-scripts.ts';
import { partsOf, textBeginning } from './asking/text-in-parts.ts';
import type { IsolatedPage } from './isolated-page.ts';

/** Maximum time for a loaded page to render what it has loaded. */
const SETTLE_MS = 2_000;

/** Facts that the document itself reports. */
export interface DocumentFacts
  extends Pick<
    Snapshot,
    'finalUrl' | 'title' | 'responseCode' | 'responseReason' | 'contentType' | 'contentLength' | 'protocol' | 'html'
  > {
  /** Facts that a verdict is based on; null when the page hides it. */
  readonly signs: Signs | null;
}

/** A document that was read. `interrupted`: whether an endless script had to be terminated for it. */
interface Observed {
  readonly facts: DocumentFacts;
  readonly interrupted: boolean;
}

const signs: z.ZodType<Signs> = z.object({
  text: z.string(),
  headings: z.string(),
  graphics: z.number(),
  isOverlaid: z.boolean(),
  skeletons: z.number(),
  overlay: z.object({ text: z.string(), names: z.string(), frames: z.array(z.string()), password: z.boolean() }),
  behind: z.number(),
  frames: z.array(z.string()),
  scripts: z.array(z.string()),
  names: z.string(),
  spinners: z.number(),
  fields: z.number(),
  password: z.boolean(),
  links: z.number(),
  isPaid: z.boolean(),
  software: z.object({
    metas: z.array(z.object({ name: z.string(), value: z.string() })),
    scripts: z.array(z.string()),
  }),
});

/** Facts that a document reports of itself, as the page's scripts return them. */
export const observed: z.ZodType<ResultOf<'observeDocument'>> = z.object({
  url: z.string(),
  title: z.string(),
  status: z.number(),
  bytes: z.number(),
  protocol: z.string(),
  document: textBeginning,
  signs: signs.nullable(),
});

/**
 * Lets a loaded page settle (images decoded, two frames drawn), then reads its document. Runs in an isolated world,
 * where the page's scripts cannot change what it calls. Undefined when the page navigated to another document
 * meanwhile.
 */
export async function observeDocument(
  page: IsolatedPage,
  deadline: Deadline,
  options: { readonly loaded: boolean; readonly beyondWindow: boolean },
): Promise<Observed | undefined> {
  const { document } = page.frame;
  if (document === null) return undefined;
  // An endless script blocks the renderer: it is terminated when its time is over.
  const patienceMs = options.loaded ? Math.max(SETTLE_MS, deadline.waitingMs) : deadline.remainingMs / 3;
  let interrupted = false;
  const endScripts = setTimeout(
    () => {
      interrupted = true;
      page.session.post('Runtime.terminateExecution');
      // The page cannot answer either while it waits for another document that never arrives.
      if (page.frame.leaving) page.session.post('Page.stopLoading');
    },
    Math.min(patienceMs, deadline.remainingMs * 0.8),
  );
  try {
    const { loaded, beyondWindow } = options;
    const observe = call('observeDocument', loaded ? SETTLE_MS : 0, beyondWindow);
    // A document that was replaced may answer seconds later, or never.
    const replaced = page.frame.until(() => page.frame.document !== document).then(() => undefined);
    const answer = Promise.race([evaluate(page, observe, { mayThrow: true }), replaced]);
    const value = await deadline.step('read the document', answer);
    if (value === undefined) return undefined;
    const ask = (part: Call) => unblocked(page, deadline, evaluate(page, part, { mayThrow: true }));
    const facts = await deadline.step(
      'read the document',
      documentFacts(observed.parse(value), document.mimeType, ask),
    );
    return facts && { facts, interrupted };
  } finally {
    clearTimeout(endScripts);
  }
}

/**
 * Resolves with the facts of a document that was observed. `ask` reads the parts that are left in its world. Undefined
 * when the document was replaced meanwhile.
 */
export async function documentFacts(
  { url, title, status, bytes, protocol, document, signs }: z.output<typeof observed>,
  contentType: string,
  ask: (part: Call) => Promise<unknown>,
): Promise<DocumentFacts | undefined> {
  const html = await wholeHtml(document, ask);
  if (html === undefined) return undefined;
  return {
    finalUrl: url,
    title,
    responseCode: status,
    responseReason: STATUS_CODES[status] ?? '',
    contentType,
    contentLength: bytes,
    protocol,
    html,
    signs,
  };
}

/** Maximum number of bytes of a UTF-16 code unit in UTF-8. */
const MAX_UNIT_BYTES = 3;

/**
 * Resolves with the whole document: as text, or in UTF-8 when it must be read in parts. Undefined when the document
 * was replaced meanwhile.
 */
async function wholeHtml(
  beginning: TextBeginning,
  ask: (part: Call) => Promise<unknown>,
): Promise<string | Uint8Array | undefined> {
  if (beginning.text.length === beginning.length) return beginning.text;
  // The system provides memory only when it is written to.
  const content = Buffer.allocUnsafeSlow(beginning.length * MAX_UNIT_BYTES);
  let bytes = 0;
  for await (const part of partsOf(beginning, ask)) {
    if (part === undefined) return undefined;
    bytes += content.write(part, bytes);
  }
  return content.subarray(0, bytes);
}
