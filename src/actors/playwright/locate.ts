import { setTimeout as delay } from 'node:timers/promises';
import type { FrameLocator, Locator, Page } from 'playwright';
import { parseSelector, type SelectorStep } from '../../capture/comparison/selector.ts';
import { evaluate } from '../../page/asking/ask-page.ts';
import type { Call } from '../../page/asking/page-scripts.ts';
import { type Entrance, firstDocumentWith, type SearchedDocument } from '../../page/find/documents.ts';
import type { EvaluatedFrame } from '../../page/frames/page-session.ts';
import { foldedPattern } from '../../words/folded.ts';
import type { Patience, Stage } from './step.ts';

/** Interval at which frames are looked through; in a document, Playwright waits by itself. */
const PASS_MS = 100;

/** No element was found in time. Named as Playwright's error for that. */
class TimeoutError extends Error {
  override readonly name = 'TimeoutError';
}

/** The matches of a selector, for Playwright and for our scripts in its document. */
export interface Located {
  readonly locator: Locator;
  readonly document: EvaluatedFrame;
  readonly steps: readonly SelectorStep[];
}

/** Resolves with a locator for the first visible element that a selector matches. Rejects as `locateBoth` does. */
export async function locateVisible(stage: Stage, selector: string): Promise<Locator> {
  const { locator } = await locateAll(stage, selector);
  return locator.filter({ visible: true }).first();
}

/**
 * Resolves with a locator for the first visible match, or for the first match if none is visible. Rejects as
 * `locateBoth` does.
 */
export async function locate(stage: Stage, selector: string): Promise<Locator> {
  const { locator } = await locateAll(stage, selector);
  const visible = locator.filter({ visible: true });
  return (await visible.count()) > 0 ? visible.first() : locator.first();
}

/**
 * Resolves with the answer of a script about a located element, which answers null or false when there is none. It
 * runs in a world of ours, where neither the page's scripts nor its elements change what it calls. Rejects as
 * Playwright does when the element does not appear in time.
 */
export async function askElement({ locator, document }: Located, patience: Patience, script: Call): Promise<unknown> {
  while (patience.timeout > 1) {
    await locator.waitFor({ state: 'attached', ...patience });
    const answer = await evaluate(document, script);
    if (answer !== undefined && answer !== null && answer !== false) return answer;
    await delay(PASS_MS, undefined, { ref: false });
  }
  throw new TimeoutError('no element was found in time');
}

/**
 * Resolves with the first element that the request's selector matches, in the document where the finder of all options
 * finds it. Rejects with a `TimeoutError` when that has to look through frames and finds none in time.
 */
export async function locateBoth(stage: Stage, selector: string): Promise<Located> {
  const all = await locateAll(stage, selector);
  return { ...all, locator: all.locator.first() };
}

async function locateAll(stage: Stage, selector: string): Promise<Located> {
  const document = await documentFor(stage, selector);
  const entrances: Entrance[] = [];
  for (let at = document?.entrance; at !== undefined; at = at.from.entrance) entrances.unshift(at);
  let scope: Page | FrameLocator = stage.page;
  for (const { steps, index } of entrances) {
    const frames: Locator = scope.locator(written(steps)).and(stage.page.locator('css=iframe, frame'));
    scope = frames.nth(index).contentFrame();
  }
  const steps = document?.steps ?? parseSelector(selector);
  return { locator: scope.locator(written(steps)), document: document ?? stage.isolated, steps };
}

async function documentFor(
  { isolated, deadline, patience }: Stage,
  selector: string,
): Promise<SearchedDocument | undefined> {
  if (parseSelector(selector).length === 1) return undefined;
  while (patience.timeout > 1) {
    const document = await firstDocumentWith(isolated, selector, deadline, patience.timeout);
    if (document !== undefined) return document;
    await delay(PASS_MS, undefined, { ref: false });
  }
  throw new TimeoutError('no element was found in time');
}

/** The steps as Playwright writes them. */
function written(steps: readonly SelectorStep[]): string {
  return steps.map((step) => ('xpath' in step ? `xpath=${step.xpath}` : `css=${step.css}`)).join(' >> ');
}

/** Returns a locator for the first visible element whose whole text is `text`, folded. */
export function locateText(page: Page, text: string): Locator {
  const inLines = page.locator(':has(> br)').filter({ hasText: foldedPattern(text, { isInLines: true }) });
  return page.getByText(foldedPattern(text)).or(inLines).filter({ visible: true }).first();
}
