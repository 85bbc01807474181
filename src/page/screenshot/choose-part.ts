import { holds } from '../../capture/comparison/boxes.ts';
import type { Deadline } from '../../capture/deadline.ts';
import { CapstanError } from '../../capture/errors.ts';
import type { Rectangle } from '../../capture/options/screenshot.ts';
import type { IsolatedPage } from '../isolated-page.ts';
import { boxOnPage, type MeasuredPage, measurePage, onPage } from './measure-page.ts';
import { type HoldablePart, holdable, type ScreenshotSize, windowSize } from './screenshot-size.ts';
import { scrollToElement } from './scroll-to-element.ts';
import type { ShotPlan } from './shot-plan.ts';
import type { Rows } from './window-bands.ts';

/** The part of the page that the screenshot shows. */
export interface ChosenPart {
  /** Rectangle in CSS pixels of the page; null for the window. */
  readonly part: Rectangle | null;
  /** True when the window shows the whole part. */
  readonly inWindow: boolean;
  /** The part that the window shows, in CSS pixels of the page. */
  readonly window: Rectangle;
  readonly size: ScreenshotSize;
  /** Number of elements in the document, when it is larger than the window. */
  readonly elements: number;
  /** Rows that look otherwise when the page is scrolled to them. */
  readonly beforeFixed: readonly Rows[];
}

/** Chooses the part that the screenshot shows. Throws `selector_not_found` when the requested part does not exist. */
export async function choosePart(page: IsolatedPage, plan: ShotPlan, deadline: Deadline): Promise<ChosenPart> {
  const { shown, viewport } = plan;
  if (shown.what === 'window') {
    const window = { x: 0, y: 0, width: viewport.width, height: viewport.height };
    return { part: null, inWindow: true, window, size: windowSize(plan), elements: 0, beforeFixed: [] };
  }
  const measured = await measurePage(page, viewport, deadline);
  const { whole } = measured;
  if (shown.what === 'element') {
    const { selector } = shown;
    const element = await scrollToElement(page, selector, deadline, onPage(measured));
    if (typeof element === 'string') throw new CapstanError('selector_not_found', WHY_NOT[element](selector));
    const box = boxOnPage(element, measured);
    const { part, size } = partOf(whole, box, plan, `what matches ${JSON.stringify(selector)}`);
    const isCut = element.isCut || !holds(aroundPage(whole), box);
    const truncatedBy = size.truncatedBy === '' && isCut ? 'container' : size.truncatedBy;
    return within(measured, { part, size: { ...size, truncatedBy } });
  }
  if (shown.what === 'clip') return within(measured, partOf(whole, shown.clip, plan, 'the clip'));
  const { part, size } = holdable(whole, plan, page.visit.shown);
  const fullHeight = Math.round(whole.height * plan.scale);
  return within(measured, { part, size: { ...size, fullHeight } });
}

function within({ window, elements, beforeFixed }: MeasuredPage, { part, size }: HoldablePart): ChosenPart {
  return { part, inWindow: holds(window, part), window, size, elements, beforeFixed };
}

const WHY_NOT: Readonly<Record<'absent' | 'invisible', (selector: string) => string>> = {
  absent: (selector) => `the page has no element that matches ${JSON.stringify(selector)}`,
  invisible: (selector) =>
    `what matches ${JSON.stringify(selector)} is not visible: it is hidden, cut off by what is around it, or has no size`,
};

/** The page, measured from its upper left corner, with the pixel by which a box is rounded outwards. */
const aroundPage = ({ width, height }: Rectangle) => ({ x: -1, y: -1, width: width + 2, height: height + 2 });

/** The part of a rectangle, measured from the page's upper left corner, that lies on the page. */
function partOf(whole: Rectangle, wanted: Rectangle, plan: ShotPlan, what: string): HoldablePart {
  const x = Math.max(0, wanted.x);
  const y = Math.max(0, wanted.y);
  const width = Math.min(wanted.x + wanted.width, whole.width) - x;
  const height = Math.min(wanted.y + wanted.height, whole.height) - y;
  if (width > 0 && height > 0) return holdable({ x: whole.x + x, y: whole.y + y, width, height }, plan);
  const { width: right, height: bottom } = whole;
  throw new CapstanError(
    'selector_not_found',
    `${what} lies outside of the page, which has ${right} by ${bottom} CSS pixels`,
  );
}
