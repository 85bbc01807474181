import type { SelectorStep } from '../../capture/comparison/selector.ts';
import { byXPath, page, selectOne } from '../dom/dom.ts';

/** Returns for each selector whether the browser refuses a step of it. */
export function checkSelectors(selectors: readonly (readonly SelectorStep[])[]): boolean[] {
  return selectors.map((steps) => steps.some(isRefused));
}

function isRefused(step: SelectorStep): boolean {
  try {
    if ('xpath' in step) byXPath(step.xpath, page);
    else for (const css of [step.css, ...compoundsOf(step)]) selectOne(page, css);
    return false;
  } catch {
    return true;
  }
}

function compoundsOf({ alternatives }: Extract<SelectorStep, { css: string }>): readonly string[] {
  return alternatives.flat().map(({ compound }) => compound);
}
