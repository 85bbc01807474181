import { setTimeout as delay } from 'node:timers/promises';
import { type Deadline, within } from '../../capture/deadline.ts';
import { askPage, evaluate } from '../ask-page.ts';
import { framesBelow } from '../frames-below.ts';
import type { IsolatedPage } from '../isolated-page.ts';

/** Maximum number of times that animations are ended: a page may start the next one whenever one ends. */
const MAX_PASSES = 5;
/** Time between two passes, in which the page hears that its animations are over. */
const PASS_MS = 50;
/** Maximum time for a frame to answer. */
const MAX_FRAME_MS = 1_000;

/**
 * Ends the page's animations as Playwright does: finite animations and transitions are
 * finished, infinite ones are cancelled to their initial state, and the caret is hidden. The same happens to those that
 * start later. Call it after the HTML snapshot has been read.
 */
export async function disableAnimations(page: IsolatedPage, deadline: Deadline): Promise<void> {
  const children = await deadline.step('list frames', within(MAX_FRAME_MS, framesBelow(page), []));
  for (let pass = 1; pass <= MAX_PASSES; pass += 1) {
    const inChildren = children.map((frame) =>
      // A frame may end at any time.
      within(MAX_FRAME_MS, evaluate(frame, FREEZE), 0).catch(() => 0),
    );
    const inPage = askPage(page, deadline, 'disable animations', FREEZE);
    const ended = await Promise.all([inPage, deadline.step('disable animations', Promise.all(inChildren))]);
    if (ended.flat().every((count) => !count) || pass === MAX_PASSES) return;
    await deadline.step('disable animations', delay(PASS_MS));
  }
}

/**
 * Runs in a document. Returns the number of animations that it ended. Animations that follow scrolling stay: they show
 * what belongs to the scroll position.
 */
const FREEZE = `(() => {
  const frozen = globalThis[Symbol.for('capstan-frozen')] ??= new WeakSet();
  const noCaret = new CSSStyleSheet();
  noCaret.replaceSync('* { caret-color: transparent !important }');
  const end = (animation) => {
    const { effect, playState, playbackRate, timeline } = animation;
    if (!effect || playState === 'finished' || playbackRate === 0 || timeline !== document.timeline) return false;
    try {
      if (effect.getComputedTiming().endTime === Infinity) animation.cancel();
      else animation.finish();
      return true;
    } catch {
      return false;
    }
  };
  let ended = 0;
  const freeze = (root, kind) => {
    const endAll = () => kind.prototype.getAnimations.call(root).filter(end).length;
    ended += endAll();
    if (!frozen.has(root)) {
      frozen.add(root);
      const sheets = Reflect.get(kind.prototype, 'adoptedStyleSheets', root);
      Reflect.set(kind.prototype, 'adoptedStyleSheets', [...sheets, noCaret], root);
      for (const type of ['transitionrun', 'animationstart']) {
        EventTarget.prototype.addEventListener.call(root, type, endAll, true);
      }
    }
    for (const element of kind.prototype.querySelectorAll.call(root, '*')) {
      const shadow = Reflect.get(Element.prototype, 'shadowRoot', element);
      if (shadow) freeze(shadow, ShadowRoot);
    }
  };
  freeze(document, Document);
  return ended;
})()`;
