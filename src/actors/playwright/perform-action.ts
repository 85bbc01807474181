import { setTimeout as delay } from 'node:timers/promises';
import type { Action, ScrollAction } from '../../capture/options/interaction.ts';
import { call } from '../../page/asking/page-scripts.ts';
import { chooseOption } from './choose-option.ts';
import { askElement, locate, locateBoth, locateText, locateVisible } from './locate.ts';
import type { Stage } from './step.ts';

/**
 * Performs one action. Rejects as Playwright does, with a `TimeoutError` when the element does not become ready in
 * time.
 */
export async function performAction(stage: Stage, action: Action): Promise<void> {
  const { page, patience } = stage;
  const located = (selector: string) => locateVisible(stage, selector);
  switch (action.type) {
    case 'click': {
      const { selector, text = '' } = action;
      const clicked = selector === undefined ? locateText(page, text) : await located(selector);
      return clicked.click(patience);
    }
    case 'hover':
      return (await located(action.selector)).hover(patience);
    case 'check':
      return (await located(action.selector)).check(patience);
    case 'uncheck':
      return (await located(action.selector)).uncheck(patience);
    case 'type': {
      const field = await located(action.selector);
      await field.fill('', patience);
      return field.pressSequentially(action.text, patience);
    }
    case 'press':
      if (action.selector === undefined) return page.keyboard.press(action.key);
      return (await locate(stage, action.selector)).press(action.key, patience);
    case 'select':
      return chooseOption(await located(action.selector), action.value, patience);
    case 'scroll':
      return scroll(stage, action);
    case 'wait':
      if (action.selector !== undefined) {
        await (await located(action.selector)).waitFor({ state: 'visible', ...patience });
      }
      if (action.ms !== undefined) await delay(action.ms, undefined, { ref: false });
      return;
    default:
      action satisfies never;
  }
}

async function scroll(stage: Stage, { selector, x, y }: ScrollAction): Promise<void> {
  const { patience } = stage;
  if (selector !== undefined && x === undefined && y === undefined) {
    return (await locate(stage, selector)).scrollIntoViewIfNeeded(patience);
  }
  const located = await locateBoth(stage, selector ?? ':root');
  await askElement(located, patience, call('scrollElement', located.steps, x ?? 0, y ?? 0));
}
