import { describe, expect, it } from 'vitest';
import type { CaptureOptions } from '../../src/capture/request.ts';
import { bandsOf, followedHeight, holdable, windowSize } from '../../src/page/screenshot/screenshot-size.ts';
import { planShot } from '../../src/page/screenshot/shot-plan.ts';
import { captureRequest } from '../support/capture-request.ts';

const planOf = (options: CaptureOptions = {}) => planShot(captureRequest('http://site.example/', options));

describe('the plan of a screenshot', () => {
  it.each([
    [{}, { what: 'window' }],
    [{ fullPage: true }, { what: 'page' }],
    [{ selector: 'main' }, { what: 'element', selector: 'main' }],
    [{ clip: { x: 1, y: 2, width: 3, height: 4 } }, { what: 'clip', clip: { x: 1, y: 2, width: 3, height: 4 } }],
    [{ format: 'pdf' }, { what: 'sheets' }],
  ] satisfies [CaptureOptions, object][])('names the one part that a request asks for: %j', (options, shown) => {
    expect(planOf(options).shown).toEqual(shown);
  });

  it('takes a screenshot that is resized without loss, with the rows that PNG holds', () => {
    const plain = planOf({ format: 'webp', fullPage: true });
    const resized = planOf({ format: 'webp', fullPage: true, resize: { width: 100 } });
    expect([plain.taken.format, plain.final.format]).toEqual(['webp', 'webp']);
    expect(plain.maxHeight).toEqual({ height: 16_383, cause: 'format' });
    expect([resized.taken.format, resized.final.format]).toEqual(['png', 'webp']);
    expect(resized.maxHeight.cause).toBe('limit');
  });

  it('has the size of the window in pixels of the image', () => {
    const plan = planOf({ viewport: { width: 400, height: 300, deviceScaleFactor: 1.5 } });
    expect(windowSize(plan)).toEqual({ width: 600, height: 450, truncatedBy: '', fullHeight: 0 });
  });

  it('cuts off what exceeds maxHeight, and says why', () => {
    const plan = planOf({ fullPage: true, maxHeight: 5_000 });
    const { part, size } = holdable({ x: 0, y: 0, width: 1280, height: 9_000 }, plan);
    expect(part.height).toBe(5_000);
    expect(size).toMatchObject({ height: 5_000, truncatedBy: 'maxHeight' });
  });

  it('follows a growing page to maxHeight, or to twice its height', () => {
    expect(followedHeight(1_000, planOf({ fullPage: true, maxHeight: 2_000 }))).toEqual({
      height: 2_000,
      cause: 'maxHeight',
    });
    expect(followedHeight(1_000, planOf({ fullPage: true }))).toEqual({ height: 30_000, cause: 'growth' });
    expect(followedHeight(40_000, planOf({ fullPage: true }))).toEqual({ height: 80_000, cause: 'growth' });
  });

  it.each([1, 1.25, 2, 3])('takes a tall page in bands without a gap or a part of a pixel at scale %d', (scale) => {
    const plan = planOf({ fullPage: true, viewport: { width: 400, height: 300, deviceScaleFactor: scale } });
    const bands = bandsOf({ x: 0, y: 0, width: 400, height: 40_000 }, plan);
    expect(bands.length).toBeGreaterThan(1);
    let end = 0;
    for (const { y, height } of bands) {
      expect(y).toBe(end);
      expect(Number.isInteger(y * scale)).toBe(true);
      end = y + height;
    }
    expect(end).toBe(40_000);
  });

  it('knows what changes elements', () => {
    expect(planOf().changesElements).toBe(false);
    for (const options of [
      { hide: ['a'] },
      { mask: ['a'] },
      { collapse: ['a'] },
      { hideFixed: true },
      { hideChats: true },
      { hidePopups: true },
    ]) {
      expect(planOf(options).changesElements).toBe(true);
    }
  });
});
