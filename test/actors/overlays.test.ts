import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { CaptureOptions } from '../../src/capture/request.ts';
import { CHATS } from '../../src/page/screenshot/chat-widgets.ts';
import { SAMPLE_PAGES } from '../fixtures/site.ts';
import { type Colour, colourAt, countOf, type Pixels, pngOf } from '../support/image.ts';
import { ON_ONE_PAGE, siteAndActor } from '../support/site-and-actor.ts';

const RED: Colour = [200, 0, 0, 255];
const BLUE: Colour = [0, 0, 200, 255];
const GREEN: Colour = [0, 160, 0, 255];
const YELLOW: Colour = [240, 200, 0, 255];
/** Fewer pixels take less CPU time; all places and sizes are even. */
const SCALE = 0.5;
const CHAT = (60 * SCALE) ** 2;
const CRISP = '<div class="crisp-client">…</div>';

const ground = siteAndActor();

const capture = (query: Record<string, string>, options: CaptureOptions, path = '/overlays') =>
  ground.capture(`${path}?${new URLSearchParams(query)}`, {
    ...ON_ONE_PAGE,
    waitUntil: 'load',
    viewport: { deviceScaleFactor: SCALE },
    ...options,
  });

/** The colour at a place in CSS pixels. */
const colourOf = (png: Pixels, x: number, y: number) => colourAt(png, x * SCALE, Math.floor(y * SCALE));

const POPUPS = ['plain', 'backdrop', 'sheet', 'modal', 'modal with a layer', 'popover', 'corner', 'shadow tree'];

describe('hidePopups', () => {
  it.each(POPUPS)('hides popups, and neither headers nor chats: %s', async (popup) => {
    const png = await pngOf(await capture({ popup, chat: CRISP }, { hidePopups: true }));
    expect([countOf(png, RED), countOf(png, BLUE)]).toEqual([0, CHAT]);
    expect(colourOf(png, 640, 1)).toEqual(YELLOW);
    expect(colourOf(png, 640, 360)).toEqual(GREEN);
  });

  it('hides popups of full pages and of pages that Playwright drives', async () => {
    const options: CaptureOptions = {
      isolation: 'capture',
      fullPage: true,
      hidePopups: true,
      waitForFunction: 'true',
    };
    const snapshot = await capture({ popup: 'backdrop' }, options);
    expect(snapshot).toMatchObject({ width: 1280 * SCALE, height: 2000 * SCALE });
    expect(countOf(await pngOf(snapshot), RED)).toBe(0);
  });

  it.each(SAMPLE_PAGES)('leaves a page without popups and chats as it is: %s', async (path) => {
    // Photos that are drawn smaller do not always have the same pixels.
    const viewport = { deviceScaleFactor: 1 };
    const [plain, hidden] = await Promise.all([
      capture({}, { viewport }, path),
      capture({}, { viewport, hidePopups: true, hideChats: true }, path),
    ]);
    expect((await pngOf(hidden)).data.equals((await pngOf(plain)).data)).toBe(true);
  });

  it('leaves the HTML snapshot as it was', async () => {
    const [plain, hidden] = await Promise.all([
      capture({ popup: 'modal' }, {}),
      capture({ popup: 'modal' }, { hidePopups: true }),
    ]);
    expect(hidden.html).toBe(plain.html);
  });

  it.each([
    ['without a popup', ''],
    ['with a popup', 'plain'],
  ])('keeps an application that consists of fixed elements, %s', async (_, popup) => {
    const png = await pngOf(await capture({ popup }, { hidePopups: true }, '/overlays/application'));
    expect(countOf(png, RED)).toBe(0);
    expect(colourOf(png, 640, 1)).toEqual(YELLOW);
    expect(colourOf(png, 640, 360)).toEqual(GREEN);
  });
});

describe('hideChats', () => {
  it('knows the services that the documentation names', async () => {
    const [, named = ''] =
      /services add to pages: ([^.]+(?:\.to[^.]+)?)\./.exec(await readFile('docs/options.md', 'utf8')) ?? [];
    expect(named.split(/,\s+/)).toEqual(Object.keys(CHATS));
  });

  it('hides chat widgets, and neither headers nor popups', async () => {
    const widgets = [
      CRISP,
      '<div id="intercom-container">…</div>',
      '<div id="hubspot-messages-iframe-container">…</div>',
      '<div class="woot-widget-holder">…</div>',
      '<div id="chat-widget-container">…</div>',
      '<div><iframe title="chat widget" style="STYLE"></iframe></div>',
    ];
    const place = (at: number) => ({ x: 20 + at * 80, y: 640 });
    const chat = widgets
      .map((widget, at) => {
        const { x, y } = place(at);
        const style = `position:fixed;left:${x}px;top:${y}px;width:60px;height:60px;border:0;background:rgb(0,0,200)`;
        return widget.replace('…', '<i style="STYLE"></i>').replace('STYLE', style);
      })
      .join('');
    const [shown, hidden] = await Promise.all([
      capture({ popup: 'plain', chat }, {}),
      capture({ popup: 'plain', chat }, { hideChats: true }),
    ]);
    expect(countOf(await pngOf(shown), BLUE)).toBe(widgets.length * CHAT);
    const png = await pngOf(hidden);
    const left = widgets.filter((_, at) => String(colourOf(png, place(at).x + 30, place(at).y + 30)) === String(BLUE));
    expect([left, countOf(png, BLUE)]).toEqual([[], 0]);
    expect(colourOf(png, 640, 360)).toEqual(RED);
    expect(colourOf(png, 640, 1)).toEqual(YELLOW);
  });
});

describe('hideFixed', () => {
  it.each(POPUPS.filter((kind) => kind !== 'corner'))(
    'hides headers, chats and popups, and shows the page: %s',
    async (popup) => {
      const png = await pngOf(await capture({ popup, chat: CRISP }, { hideFixed: true, fullPage: true }));
      expect([countOf(png, RED), countOf(png, BLUE), countOf(png, YELLOW)]).toEqual([0, 0, 0]);
      expect(colourOf(png, 640, 1)).toEqual(GREEN);
    },
  );

  it('shows sticky elements at their own place', async () => {
    const [shown, hidden] = await Promise.all([
      capture({}, {}, '/overlays/sticky'),
      capture({}, { hideFixed: true }, '/overlays/sticky'),
    ]);
    expect(colourOf(await pngOf(shown), 640, 719)).toEqual(YELLOW);
    expect(colourOf(await pngOf(hidden), 640, 719)).toEqual(GREEN);
  });

  it('keeps the view of an application that consists of fixed elements', async () => {
    const png = await pngOf(await capture({ popup: 'backdrop' }, { hideFixed: true }, '/overlays/application'));
    expect([countOf(png, RED), countOf(png, YELLOW)]).toEqual([0, 0]);
    expect(colourOf(png, 640, 360)).toEqual(GREEN);
  });

  it('combines with the other options that hide and mask', async () => {
    const options: CaptureOptions = { hideFixed: true, hideChats: true, hidePopups: true, mask: ['p'] };
    const png = await pngOf(await capture({ popup: 'backdrop', chat: CRISP }, options));
    expect([countOf(png, RED), countOf(png, BLUE), countOf(png, YELLOW)]).toEqual([0, 0, 0]);
    expect(colourOf(png, 640, 85)).toEqual([255, 0, 255, 255]);
  });
});
