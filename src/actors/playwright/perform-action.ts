import { setTimeout as delay } from 'node:timers/promises';
import type { Page } from 'playwright';
import type { Action, ScrollAction } from '../../capture/options/interaction.ts';
import { locate, locateText } from './locate.ts';
import type { Patience } from './step.ts';

/**
 * Performs one action. Rejects as Playwright does, with a `TimeoutError` when the element does not become ready in
 * time.
 */
export async function performAction(page: Page, action: Action, patience: Patience): Promise<void> {
  switch (action.type) {
    case 'click':
      return (
        action.selector === undefined ? locateText(page, action.text ?? '') : locate(page, action.selector)
      ).click(patience);
    case 'hover':
      return locate(page, action.selector).hover(patience);
    case 'check':
      return locate(page, action.selector).check(patience);
    case 'uncheck':
      return locate(page, action.selector).uncheck(patience);
    case 'type':
      await locate(page, action.selector).fill('', patience);
      return locate(page, action.selector).pressSequentially(action.text, patience);
    case 'press':
      return action.selector === undefined
        ? page.keyboard.press(action.key)
        : locate(page, action.selector).press(action.key, patience);
    case 'select':
      await locate(page, action.selector).selectOption(action.value, patience);
      return;
    case 'scroll':
      return scroll(page, action, patience);
    case 'wait':
      if (action.selector !== undefined) await locate(page, action.selector).waitFor({ state: 'visible', ...patience });
      if (action.ms !== undefined) await delay(action.ms, undefined, { ref: false });
      return;
  }
}

async function scroll(page: Page, { selector, x, y }: ScrollAction, patience: Patience): Promise<void> {
  if (selector !== undefined && x === undefined && y === undefined) {
    return locate(page, selector).scrollIntoViewIfNeeded(patience);
  }
  const what = selector === undefined ? page.locator(':root') : locate(page, selector);
  // Scrolls instantly, even where the style sheet sets smooth scrolling: the next step could not tell when that ends.
  await what.evaluate(
    (element, by) => element.scrollBy({ left: by.x, top: by.y, behavior: 'instant' }),
    { x: x ?? 0, y: y ?? 0 },
    patience,
  );
}
