import { describe, expect, it } from 'vitest';
import { differenceOf, type PageKind, pathOf, SEEN, UNSEEN } from '../fixtures/kinds/kind.ts';
import { REVEALED_KINDS } from '../fixtures/kinds/revealed.ts';
import { SCROLLED_KINDS } from '../fixtures/kinds/scrolled.ts';
import { CONTENT_VISIBILITY } from '../fixtures/kinds/tall.ts';
import { UNFINISHED_KINDS } from '../fixtures/kinds/unfinished.ts';
import { UNFOLDED_KINDS } from '../fixtures/kinds/unfolded.ts';
import { countOf, pngOf } from '../support/image.ts';
import { IN_NARROW_WINDOW, NARROW, ON_ONE_PAGE, siteAndActor } from '../support/site-and-actor.ts';

const WIDTH = NARROW.width;
const { capture } = siteAndActor({ ...ON_ONE_PAGE, ...IN_NARROW_WINDOW });

const expectFullPage = async (kind: PageKind) => {
  const whole = await capture(pathOf(kind), { fullPage: true });
  expect(whole.cutPhase).toBeNull();
  expect(differenceOf(await pngOf(whole), kind.fullPage)).toBeNull();
};

const expectWindow = async (kind: PageKind) =>
  expect(differenceOf(await pngOf(await capture(pathOf(kind))), kind.window)).toBeNull();

describe('a full page', () => {
  it('shows sections that Chromium does not render outside the window', () => expectFullPage(CONTENT_VISIBILITY));

  it.concurrent('is partial when the time does not suffice to show everything that is visible only in the window', async () => {
    const viewport = { width: 200, height: 200, deviceScaleFactor: 1 };
    const snapshot = await capture('/late/many-hidden', { fullPage: true, viewport });
    expect(snapshot).toMatchObject({ height: 30_000, truncatedBy: '', cutPhase: 'settle' });
    const seen = countOf(await pngOf(snapshot), SEEN);
    expect(seen).toBeGreaterThan(2 * 200 * 200);
    expect(seen).toBeLessThan(150 * 200 * 200);
  });

  it.concurrent.each(SCROLLED_KINDS)('shows what scrolling has loaded, and the top as it was: $name', expectFullPage);

  it.concurrent.each(REVEALED_KINDS)('shows content that is visible only in the window: $name', expectFullPage);

  it.concurrent.each(UNFOLDED_KINDS)(
    'shows all of an element that scrolls in place of the document: $name',
    expectFullPage,
  );

  it.concurrent('waits for delayMs after it was scrolled', async () => {
    const snapshot = await capture('/late/after-scrolling', { fullPage: true, delayMs: 1500 });
    expect(countOf(await pngOf(snapshot), SEEN)).toBe(WIDTH * 100);
  });

  it('shows a banner that comes during delayMs, and no popup of scrolling', async () => {
    // The banner comes 2 s after the page has been scrolled back, which a busy machine may need to note the popup.
    const png = await pngOf(await capture('/late/banner', { fullPage: true, delayMs: 6000 }));
    expect([countOf(png, SEEN), countOf(png, UNSEEN)]).toEqual([WIDTH * 100, 0]);
  });
});

describe('a window', () => {
  // It is neither scrolled nor changed, whatever its page does then: one page of each group shows that.
  it.concurrent.each([SCROLLED_KINDS, REVEALED_KINDS, UNFOLDED_KINDS].flatMap(([kind]) => kind ?? []))(
    'shows what a visitor sees without scrolling: $name',
    expectWindow,
  );
});

describe('a window and a full page', () => {
  it.concurrent.each(UNFINISHED_KINDS)('show a page when it is done: $name', async (kind) => {
    await expectFullPage(kind);
    await expectWindow(kind);
  });
});

describe('a selector', () => {
  it('waits for what scrolling to its element has started', async () => {
    const snapshot = await capture('/late/background', { selector: '#late' });
    expect(snapshot).toMatchObject({ width: 200, height: 100, cutPhase: null });
    expect(countOf(await pngOf(snapshot), SEEN)).toBe(200 * 100);
  });

  it.each(REVEALED_KINDS)('shows an element that is visible only in the window: $name', async (kind) => {
    const snapshot = await capture(pathOf(kind), { selector: '(//*[contains(@class, "seen")])[6]' });
    expect(snapshot).toMatchObject({ width: WIDTH, height: 200, cutPhase: null });
    expect(countOf(await pngOf(snapshot), SEEN)).toBe(WIDTH * 200);
  });

  it('shows all of an element that scrolls', async () => {
    const snapshot = await capture('/kinds/application-shell', { selector: 'main' });
    expect(snapshot).toMatchObject({ width: 0.75 * WIDTH, height: 2000 });
    expect(countOf(await pngOf(snapshot), SEEN)).toBe(0.75 * WIDTH * 100);
  });
});
