import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseSelector } from '../../src/capture/comparison/selector.ts';
import { call } from '../../src/page/asking/page-scripts.ts';
import { type Colour, countOf, pixelsOf } from '../support/image.ts';
import { launchBrowser } from '../ui/ui-service.ts';

const MASK: Colour = [255, 0, 255, 255];
const NEXT_FRAME =
  'new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(drawn))))';

describe('a mask of many elements', () => {
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    browser = await launchBrowser();
    page = await browser.newPage();
  });
  afterAll(() => browser?.close());

  const mask = (selector: string) => page.evaluate(call('changeElements', [parseSelector(selector)], 'mask'));
  const finish = () => page.evaluate(call('finishMask'));
  const masked = async () => countOf(await pixelsOf(await page.screenshot()), MASK);

  it('asks the browser once, and does not wait for parts that appear later', async () => {
    await page.setContent(`<style>* { margin: 0 } p { width: 100px; height: 10px }</style>
      <div style="display: contents"><p></p></div>${'<p></p>'.repeat(20)}`);
    await page.evaluate(`asked = 0; IntersectionObserver = class extends IntersectionObserver {
      constructor(...options) { super(...options); asked += 1 }
    }`);
    expect(await mask('div, div ~ p')).toBe(false);
    await page.evaluate("document.querySelector('div').append(document.createElement('p'))");
    await page.evaluate(NEXT_FRAME);
    expect(await finish()).toBe(true);
    expect(await page.evaluate('asked')).toBe(1);
    expect(await masked()).toBe(100 * 10 * (2 + 20));
  });

  it('covers elements that move and grow after the browser has reported', async () => {
    await page.setContent(`<style>* { margin: 0 } p { width: 100px; height: 10px }</style>
      <div></div><p></p><p id=empty style="width: 0"></p>`);
    expect(await mask('p')).toBe(false);
    await page.evaluate(NEXT_FRAME);
    await page.evaluate("document.querySelector('div').style.height = '50px'; empty.style.width = '200px'");
    expect(await finish()).toBe(true);
    expect(await masked()).toBe(100 * 10 + 200 * 10);
  });

  it('covers the elements of the last attempt, and not those of one that was given up', async () => {
    await page.setContent(`<style>* { margin: 0 } p { width: 100px; height: 10px }</style>
      <p></p><p></p><p id=last></p>`);
    expect([await mask('p'), await mask('#last')]).toEqual([false, false]);
    await page.evaluate(NEXT_FRAME);
    expect(await finish()).toBe(true);
    expect(await masked()).toBe(100 * 10);
  });
});
