import { setTimeout as delay } from 'node:timers/promises';
import type { FrameLocator, Locator, Page } from 'playwright';
import { parseSelector, type SelectorStep } from '../../capture/selector.ts';
import { type Entrance, firstPlace, type Place } from '../../page/find/places.ts';
import type { Stage } from './step.ts';

/** Interval at which frames are looked through; in a document, Playwright waits by itself. */
const PASS_MS = 100;

/** No element was found in time. Named as Playwright's error for that. */
class TimeoutError extends Error {
  override readonly name = 'TimeoutError';
}

/**
 * Resolves with a locator for the first element that the request's selector matches, in the document where the finder
 * of all options finds it. Rejects with a `TimeoutError` when that has to look through frames and finds none in time.
 */
export async function locate(stage: Stage, selector: string): Promise<Locator> {
  const place = await placeFor(stage, selector);
  const entrances: Entrance[] = [];
  for (let at = place?.entrance; at !== undefined; at = at.from.entrance) entrances.unshift(at);
  let scope: Page | FrameLocator = stage.page;
  for (const { steps, index } of entrances) {
    const frames: Locator = scope.locator(written(steps)).and(stage.page.locator('css=iframe, frame'));
    scope = frames.nth(index).contentFrame();
  }
  return scope.locator(written(place?.steps ?? parseSelector(selector))).first();
}

async function placeFor({ isolated, deadline, patience }: Stage, selector: string): Promise<Place | undefined> {
  if (parseSelector(selector).length === 1) return undefined;
  while (patience.timeout > 1) {
    const place = await firstPlace(isolated, selector, deadline, patience.timeout);
    if (place !== undefined) return place;
    await delay(PASS_MS, undefined, { ref: false });
  }
  throw new TimeoutError('no element was found in time');
}

/** The steps as Playwright writes them. */
function written(steps: readonly SelectorStep[]): string {
  return steps.map((step) => ('xpath' in step ? `xpath=${step.xpath}` : `css=${step.css}`)).join(' >> ');
}

/** Returns a locator for the first visible element whose whole text is `text`, whatever its case and spaces. */
export function locateText(page: Page, text: string): Locator {
  const words = text.trim().split(/\s+/).map(RegExp.escape);
  return page
    .getByText(new RegExp(`^\\s*${words.join('\\s+')}\\s*$`, 'i'))
    .filter({ visible: true })
    .first();
}
