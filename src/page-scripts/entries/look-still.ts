import { animationsOf, page, rootElementOf, scrollHeightOf, selectOne } from '../dom.ts';
import { mainScroller } from '../main-scroller.ts';
import { type Observed, observe } from '../observe.ts';
import { readSigns, type Signs } from '../signs/read-signs.ts';
import { keptWatch } from '../still.ts';
import { watchChanges } from '../watch-changes.ts';
import { web } from '../web.ts';
import { watchWork } from '../work/watch-work.ts';

/**
 * Waits until the page has drawn, for at most `maxMs`, reads the document, and from then on also watches for layout
 * shifts: earlier ones are in the screenshot. Null when the document has changed meanwhile, or may change unnoticed
 * within `settleMs`, and with `whole` also when there is something to scroll to.
 */
export async function run(
  maxMs: number,
  settleMs: number,
  whole: boolean,
): Promise<(Observed & { readonly signs: Signs | null }) | null> {
  const early = watchChanges([]);
  const seen = await observe(maxMs, false);
  const isChanging = early.noticed().count > 0;
  early.end();
  const watch = keptWatch();
  watch.beginning = early.beginning;
  watch.changes = watchChanges(['layout-shift']);
  const mayChange = isChanging || (whole && scrolls()) || isAnimated() || draws() || watchWork()(settleMs);
  return mayChange ? null : { ...seen, signs: readSigns() };
}

function scrolls(): boolean {
  const root = rootElementOf(page);
  return root === null || scrollHeightOf(root) > web.innerHeight || mainScroller() !== null;
}

const isAnimated = (): boolean => animationsOf(page).some(({ playState }) => playState === 'running');

const draws = (): boolean => selectOne(page, 'canvas, video, object, embed') !== null;
