import { describe, expect, it } from 'vitest';
import type { CaptureOptions } from '../../src/capture/request.ts';
import { siteForSuite } from '../support/for-suite.ts';
import { type Colour, countOf, pngOf } from '../support/image.ts';
import { siteAndActor } from '../support/site-and-actor.ts';

const GREEN: Colour = [0, 160, 0, 255];
const RED: Colour = [200, 0, 0, 255];
const BOX = 200 * 200;
const DISABLED: CaptureOptions = { animations: 'disabled' };

const { capture } = siteAndActor();
const otherPort = siteForSuite();

const frameOf = (url: string) => `/animated/frame?of=${encodeURIComponent(url)}`;

describe.each<[string, CaptureOptions]>([
  ['Chromium', {}],
  ['Playwright', { waitForFunction: 'true' }],
])('animations of a page that %s captures', (_driver, asks) => {
  it('ends finite animations and transitions, and resets infinite ones', async () => {
    const moving = await pngOf(await capture('/animated', asks));
    expect(countOf(moving, GREEN)).toBeLessThan(2 * BOX);
    const png = await pngOf(await capture('/animated', { ...asks, ...DISABLED }));
    expect([countOf(png, GREEN), countOf(png, RED)]).toEqual([3 * BOX, 0]);
  });

  it('hides the caret', async () => {
    const png = await pngOf(await capture('/animated/caret', { ...asks, ...DISABLED }));
    expect(countOf(png, RED)).toBe(0);
  });
});

describe('disabled animations', () => {
  it.each<[string, string, () => string]>([
    ['a full page', '{"fullPage":true}', () => '/animated'],
    ['an element', '{"selector":"body"}', () => '/animated'],
    ['a page that hides an element', '{"hide":["h1"]}', () => '/animated'],
    ['a frame of the same origin', '{}', () => frameOf('/animated')],
    ['a frame of another site', '{}', () => frameOf(otherPort.url('/animated').replace('127.0.0.1', 'localhost'))],
  ])('end in %s', async (_, options, path) => {
    const png = await pngOf(await capture(path(), { ...JSON.parse(options), ...DISABLED }));
    expect([countOf(png, GREEN), countOf(png, RED)]).toEqual([3 * BOX, 0]);
  });

  it('end in shadow trees', async () => {
    const png = await pngOf(await capture('/animated/shadow', DISABLED));
    expect([countOf(png, GREEN), countOf(png, RED)]).toEqual([2 * BOX, 0]);
  });

  it('show what the page does at their end, with the animations that it then starts', async () => {
    const png = await pngOf(await capture('/animated/curtain', DISABLED));
    expect([countOf(png, GREEN), countOf(png, RED)]).toEqual([BOX, 0]);
  });

  it('end on a page that starts the next transition whenever one ends', async () => {
    const png = await pngOf(await capture('/animated/restless', DISABLED));
    expect(png.width).toBe(1280);
  });

  it('leave the HTML snapshot as it was', async () => {
    const { html } = await capture('/animated/caret', DISABLED);
    expect(html).toContain('<input autofocus="">');
  });
});

describe('a caret', () => {
  it('is in the screenshot unless animations are disabled', async () => {
    const png = await pngOf(await capture('/animated/caret', { waitForFunction: 'true' }));
    expect(countOf(png, RED)).toBeGreaterThan(100);
  });
});
