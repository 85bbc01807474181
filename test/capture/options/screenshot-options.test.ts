import { describe, expect, it } from 'vitest';
import { MAX_PIXELS } from '../../../src/capture/options/screenshot.ts';
import { parse, problemsOf } from './option-problems.ts';

const VIEWPORT = 'must be an integer of CSS pixels from 1 to 4096';
const OFFSET = 'must be an integer of CSS pixels from 0 to 1000000';
const SIDE = 'must be an integer of CSS pixels from 1 to 16384';
const HEIGHT = 'must be an integer of CSS pixels from 1 to 200000';
const SELECTOR = 'must be a CSS selector or an XPath of 1 to 1000 characters';
const CLIP = { x: 0, y: 0, width: 10, height: 10 };

describe('screenshot options', () => {
  it.each([
    [{ viewport: { width: 0, height: 720 } }, 'viewport.width', VIEWPORT],
    [{ viewport: { width: 1280, height: 4097 } }, 'viewport.height', VIEWPORT],
    [{ viewport: { width: 1280, height: 72.5 } }, 'viewport.height', VIEWPORT],
    [
      { viewport: { width: 9, height: 9, deviceScaleFactor: 5 } },
      'viewport.deviceScaleFactor',
      'must be a number from 0.1 to 4',
    ],
    [
      { viewport: { width: 9, height: 9, deviceScaleFactor: 0.1 } },
      'viewport',
      'must have at least one pixel, including deviceScaleFactor',
    ],
    [
      { device: 'iPhone 15', viewport: { width: 4096, deviceScaleFactor: 4 } },
      'viewport',
      `must have at most ${MAX_PIXELS} pixels, including deviceScaleFactor`,
    ],
    [
      { viewport: { width: 4096, height: 4096, deviceScaleFactor: 2 } },
      'viewport',
      `must have at most ${MAX_PIXELS} pixels, including deviceScaleFactor`,
    ],
    [{ viewport: 'large' }, 'viewport', 'must be an object with any of width, height and deviceScaleFactor'],
    [{ selector: '' }, 'selector', SELECTOR],
    [{ selector: 'x'.repeat(1001) }, 'selector', SELECTOR],
    [{ clip: { ...CLIP, x: -1 } }, 'clip.x', OFFSET],
    [{ clip: { ...CLIP, width: 0 } }, 'clip.width', SIDE],
    [{ clip: { ...CLIP, height: 200_001 } }, 'clip.height', HEIGHT],
    [{ fullPage: true, maxHeight: 200_001 }, 'maxHeight', HEIGHT],
    [{ maxHeight: 5000 }, 'maxHeight', 'requires fullPage'],
    [{ resize: { width: 0 } }, 'resize.width', 'must be an integer of pixels from 1 to 16384'],
    [{ resize: {} }, 'resize', 'must have a width or a height'],
    [{ clip: [0, 0, 1, 1] }, 'clip', 'must be an object with x, y, width and height'],
    [{ omitBackground: 1 }, 'omitBackground', 'must be true or false'],
    [{ hide: 'header' }, 'hide', 'must be a list of selectors'],
    [{ hide: ['header', 5] }, 'hide[1]', SELECTOR],
    [{ mask: Array.from({ length: 51 }, () => 'p') }, 'mask', 'must have at most 50 selectors'],
    [{ format: 'pdf', pdf: { paper: 'A6' } }, 'pdf.paper', 'must be one of A3, A4, A5, Letter, Legal, Tabloid'],
    [{ format: 'pdf', pdf: { margin: 51 } }, 'pdf.margin', 'must be a number of millimetres from 0 to 50'],
    [{ format: 'pdf', pdf: { scale: 3 } }, 'pdf.scale', 'must be a number from 0.1 to 2'],
  ])('names in one text what is accepted instead of %j', (options, path, message) => {
    expect(problemsOf(options)).toEqual([{ path, message }]);
  });

  it.each([
    [{ selector: 'p', fullPage: true }, 'selector', 'cannot be combined with fullPage: remove one of them'],
    [{ selector: 'p', clip: CLIP }, 'selector', 'cannot be combined with clip: remove one of them'],
    [{ clip: CLIP, fullPage: true }, 'clip', 'cannot be combined with fullPage: remove one of them'],
    [
      { omitBackground: true, format: 'jpg' },
      'omitBackground',
      'requires the format png or webp: jpeg has no transparency',
    ],
    [{ pdf: {} }, 'pdf', 'requires the format pdf'],
    [
      { format: 'pdf', fullPage: true },
      'fullPage',
      'cannot be combined with the format pdf: choose png, jpeg or webp, or remove it',
    ],
    [
      { format: 'pdf', selector: 'p' },
      'selector',
      'cannot be combined with the format pdf: choose png, jpeg or webp, or remove it',
    ],
    [
      { format: 'pdf', clip: CLIP },
      'clip',
      'cannot be combined with the format pdf: choose png, jpeg or webp, or remove it',
    ],
    [
      { format: 'pdf', resize: { width: 320 } },
      'resize',
      'cannot be combined with the format pdf: choose png, jpeg or webp, or remove it',
    ],
    [
      { format: 'pdf', omitBackground: true },
      'omitBackground',
      'cannot be combined with the format pdf: choose png, jpeg or webp, or remove it',
    ],
    [
      { format: 'pdf', mask: ['p'] },
      'mask',
      'cannot be combined with the format pdf: choose png, jpeg or webp, or remove it',
    ],
  ])('refuses contradicting options: %j', (options, path, message) => {
    expect(problemsOf(options)).toEqual([{ path, message }]);
  });

  it.each([
    { selector: 'p', fullPage: false },
    { omitBackground: true, format: 'webp' },
    { omitBackground: false, format: 'jpeg' },
    { format: 'pdf', pdf: { paper: 'Legal', landscape: true, margin: 0, scale: 0.1, background: false } },
    { format: 'pdf', hide: ['nav'] },
    { hide: ['video'], mask: ['//video', 'iframe'] },
    { viewport: { width: 4096, height: 2048, deviceScaleFactor: 2 } },
  ])('accepts %j', (options) => {
    expect(parse(options)).toMatchObject(options);
  });

  it('reads a viewport as that of a desktop with a scale factor of 1', () => {
    expect(parse({ viewport: { width: 800, height: 600 } }).viewport).toEqual({
      width: 800,
      height: 600,
      deviceScaleFactor: 1,
      mobile: false,
      touch: false,
    });
  });

  it.each([
    [{ viewport: { width: 800 } }, { width: 800, height: 720, deviceScaleFactor: 1, mobile: false, touch: false }],
    [{ viewport: { height: 900 } }, { width: 1280, height: 900, deviceScaleFactor: 1, mobile: false, touch: false }],
    [
      { device: 'iPhone 15', viewport: { width: 500 } },
      { width: 500, height: 659, deviceScaleFactor: 3, mobile: true, touch: true },
    ],
    [
      { device: 'iPhone 15', viewport: { height: 2000 } },
      { width: 393, height: 2000, deviceScaleFactor: 3, mobile: true, touch: true },
    ],
    [
      { device: 'iPhone 15', viewport: { deviceScaleFactor: 1 } },
      {
        width: 393,
        height: 659,
        deviceScaleFactor: 1,
        mobile: true,
        touch: true,
        screen: { width: 393, height: 852 },
      },
    ],
    [
      { device: 'iPhone 15', viewport: { width: 500, height: 400 } },
      { width: 500, height: 400, deviceScaleFactor: 1, mobile: false, touch: false },
    ],
  ])('completes %j from the device, or else from the default', (options, viewport) => {
    expect(parse(options).viewport).toEqual(viewport);
  });
});
