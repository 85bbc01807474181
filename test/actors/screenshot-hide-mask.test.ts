import { describe, expect, it } from 'vitest';
import type { CaptureOptions } from '../../src/capture/request.ts';
import { LATE } from '../support/capture-request.ts';
import { type Colour, colourAt, countOf, pngOf } from '../support/image.ts';
import { siteAndActor } from '../support/site-and-actor.ts';

const RED: Colour = [200, 0, 0, 255];
const YELLOW: Colour = [240, 200, 0, 255];
const FLOATING: Colour = [0, 90, 200, 255];
const BLUE: Colour = [0, 0, 200, 255];
const MASK: Colour = [255, 0, 255, 255];
const WHITE: Colour = [255, 255, 255, 255];

const ground = siteAndActor();

const capture = (overrides: CaptureOptions, path = '/picture/parts') => ground.capture(path, overrides);

describe('hidden elements', () => {
  it('hides elements, and keeps their place', async () => {
    const snapshot = await capture({ hide: ['#red', '//div[@id="floating"]', '#nowhere'] });
    const png = await pngOf(snapshot);
    expect(countOf(png, RED)).toBe(0);
    expect(countOf(png, FLOATING)).toBe(0);
    expect(colourAt(png, 41, 61)).toEqual(WHITE);
    expect(colourAt(png, 41, 401)).toEqual(YELLOW);
  });

  it("hides elements with their content, whatever the page's styles say", async () => {
    const png = await pngOf(await capture({ hide: ['#stubborn'] }));
    expect(colourAt(png, 41, 561)).toEqual(WHITE);
    expect(colourAt(png, 41, 641)).toEqual(WHITE);
  });

  it('leaves hidden elements unchanged in the HTML snapshot', async () => {
    const [plain, hidden] = await Promise.all([capture({}), capture({ hide: ['#red'], mask: ['#floating'] })]);
    expect(hidden.html).toBe(plain.html);
  });
});

describe('collapsed elements', () => {
  it('leaves elements out of the layout, and makes the page shorter', async () => {
    const [plain, collapsed] = await Promise.all([
      capture({ fullPage: true }, '/late/gallery?count=4'),
      capture({ fullPage: true, collapse: ['img:first-child', '#nowhere'] }, '/late/gallery?count=4'),
    ]);
    expect(plain.height - collapsed.height).toBe(400);
    expect(collapsed.html).toContain('plate.svg?0');
  });
});

describe('masked elements', () => {
  it('covers masked elements with one colour, and nothing else', async () => {
    const png = await pngOf(await capture({ mask: ['#red', '#stubborn'] }));
    expect(countOf(png, MASK)).toBe(2 * 200 * 100);
    expect(countOf(png, RED)).toBe(0);
    for (const [x, y] of [
      [40, 60],
      [239, 159],
      [40, 560],
      [239, 659],
    ] as const) {
      expect(colourAt(png, x, y)).toEqual(MASK);
    }
    expect(colourAt(png, 39, 59)).toEqual(WHITE);
    expect(colourAt(png, 240, 160)).toEqual(WHITE);
  });

  it('covers elements to the edge of the pixels that they touch', async () => {
    const png = await pngOf(await capture({ mask: ['#uneven'] }));
    expect(countOf(png, MASK)).toBe(101 * 51);
    expect(colourAt(png, 400, 60)).toEqual(MASK);
    expect(colourAt(png, 500, 110)).toEqual(MASK);
  });

  it('covers elements outside the window and floating ones', async () => {
    const png = await pngOf(await capture({ fullPage: true, mask: ['#deep', '#floating'] }));
    expect(countOf(png, MASK)).toBe(300 * 150 + 200 * 100);
    expect(countOf(png, BLUE)).toBe(0);
    expect(countOf(png, FLOATING)).toBe(0);
    expect(colourAt(png, 40, 1800)).toEqual(MASK);
    expect(colourAt(png, 339, 1949)).toEqual(MASK);
  });

  it('covers elements in a modal dialog', async () => {
    const png = await pngOf(await capture({ mask: ['dialog p'] }, '/picture/dialog'));
    expect(countOf(png, MASK)).toBe(300 * 100);
    expect(countOf(png, RED)).toBe(0);
  });

  it('covers elements in the screenshot of an element', async () => {
    const png = await pngOf(await capture({ selector: '#scroller', mask: ['#inner'] }));
    expect([png.width, png.height]).toEqual([200, 100]);
    expect(colourAt(png, 100, 1)).toEqual(YELLOW);
    const masked = await pngOf(await capture({ selector: '#inner', mask: ['#inner'] }));
    expect(countOf(masked, MASK)).toBe(200 * 50);
  });
});

describe('a hostile page', () => {
  it('masks, hides and scrolls although the page overrides names and functions', async () => {
    const masked = await pngOf(await capture({ mask: ['#red'], fullPage: true }, '/picture/hostile'));
    expect(masked.height).toBe(2000);
    expect(countOf(masked, RED)).toBe(0);
    const hidden = await pngOf(await capture({ hide: ['//div[@id="red"]'] }, '/picture/hostile'));
    expect(countOf(hidden, RED)).toBe(0);
    const alone = await pngOf(await capture({ selector: '#red' }, '/picture/hostile'));
    expect(countOf(alone, RED)).toBe(200 * 100);
  });

  it.each([0, 30])('masks the document that is shown when the page reloads itself after %i ms', async (ms) => {
    const png = await pngOf(await capture({ mask: ['h1'], ...LATE }, `/reload-loop?ms=${ms}`));
    expect(countOf(png, MASK)).toBeGreaterThan(10_000);
  });

  it.each([0, 30])('shows one element of a page that reloads itself after %i ms', async (ms) => {
    const { height } = await capture({ selector: 'h1', ...LATE }, `/reload-loop?ms=${ms}`);
    expect(height).toBeLessThan(100);
  });

  it('masks the elements of a page that is being replaced, or fails the capture', async () => {
    const captures = Array.from({ length: 2 }, () => capture({ mask: ['div'], timeoutMs: 8000 }, '/picture/refresh'));
    for (const outcome of await Promise.allSettled(captures)) {
      if (outcome.status === 'fulfilled') expect(countOf(await pngOf(outcome.value), RED)).toBe(0);
      else
        expect(outcome.reason).toMatchObject({ code: expect.stringMatching(/^(target_unreachable|capture_timeout)$/) });
    }
  });
});
