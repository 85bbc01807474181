import { describe, expect, it } from 'vitest';
import { recordedOptions } from '../../../src/capture/options/recorded-options.ts';
import { type CaptureOptions, DEFAULT_LIMITS, requestSchemas } from '../../../src/capture/request.ts';

const { screenshot } = requestSchemas({ ...DEFAULT_LIMITS, callbacks: true });
const requestOf = (options: object) => screenshot.parse({ ...options, url: 'https://example.com/' });
const recorded = (options: CaptureOptions = {}) => recordedOptions(requestOf(options));

describe('recordedOptions', () => {
  it.each<[CaptureOptions]>([
    [{}],
    [{ fullPage: true, darkMode: true }],
    [{ device: 'iPhone 15' }],
    [{ device: 'iPhone 15', viewport: { width: 500, height: 400 }, userAgent: 'mine' }],
    [{ device: 'iPhone 15', viewport: { width: 1280, height: 720 } }],
    [{ device: 'iPhone 15', viewport: { width: 500 } }],
    [{ device: 'iPhone 15', viewport: { height: 2000, deviceScaleFactor: 1 } }],
    [{ device: 'Desktop Chrome', viewport: { deviceScaleFactor: 2 } }],
    [{ viewport: { width: 500, height: 400, deviceScaleFactor: 2 } }],
    [{ acceptCookieBanners: true }],
    [{ resize: { width: 320 } }],
    [{ format: 'pdf', media: 'screen' }],
    [{ format: 'pdf', pdf: { width: 100, height: 150, pageRanges: '2-' } }],
    [{ rejectCookieBanners: true }],
    [{ animations: 'disabled' }],
    [{ hideFixed: true, hideChats: true, hidePopups: true }],
    [{ format: 'pdf', pdf: { landscape: true, margin: 0 } }],
    [{ format: 'pdf', pdf: { landscape: false, margin: 10 } }],
    [{ format: 'pdf', pdf: { preferCssPageSize: true, outline: true } }],
    [{ timeoutMs: 90_000, delayMs: 10 }],
    [{ actions: [{ type: 'click', selector: '#menu' }] }],
    [{ proxy: { server: 'http://proxy.example:8080' } }],
    [{ hide: ['nav'], block: { types: ['image'] } }],
    [{ form: { fields: { newsletter: false }, submit: false } }],
  ])('returns %j as it was written', (options) => {
    expect(recorded(options)).toEqual({ options, options_withheld: [] });
  });

  it('returns options that make an equal request when they are written again', () => {
    const written: CaptureOptions = {
      device: 'pixel 9',
      evidence: 'all',
      format: 'jpg',
      locale: 'de-at',
      pdf: undefined,
      clip: { x: 1, y: 2, width: 3, height: 4 },
    };
    const { options } = recorded(written);
    expect(requestOf(options)).toEqual(requestOf(written));
  });

  it.each<[CaptureOptions]>([
    [{ fullPage: false }],
    [{ viewport: { width: 1280, height: 720 } }],
    [{ hide: [], evidence: [] }],
    [{ cacheMaxAgeMs: 1000 }],
    [{ callback: 'https://example.com/told?token=s3cr3t' }],
  ])('returns nothing for %j, which leaves the picture at the defaults', (options) => {
    expect(recorded(options)).toEqual({ options: {}, options_withheld: [] });
  });

  it.each<[CaptureOptions]>([
    [{ headers: { authorization: 'Bearer s3cr3t' } }],
    [{ cookies: [{ name: 'a', value: 's3cr3t' }] }],
    [{ httpCredentials: { username: 'a', password: 's3cr3t' } }],
    [{ proxy: { server: 'http://a:s3cr3t@proxy.example:8080' } }],
    [{ proxy: { server: 'http://proxy.example', credentials: { username: 'a', password: 's3cr3t' } } }],
    [{ javascript: { before: 'localStorage.token = "s3cr3t"' } }],
    [
      {
        actions: [
          { type: 'click', selector: '#login' },
          { type: 'type', selector: '#password', text: 's3cr3t' },
        ],
      },
    ],
    [{ actions: [{ type: 'select', selector: '#who', value: 's3cr3t' }] }],
    [{ actions: [{ type: 'press', key: 's' }] }],
    [{ form: { fields: { password: 's3cr3t' } } }],
  ])('names the option of %j and leaves out its value', (options) => {
    const found = recorded({ ...options, fullPage: true });
    expect(found).toEqual({ options: { fullPage: true }, options_withheld: Object.keys(options) });
  });

  it('leaves out the value of an option that is longer than a list of records should carry', () => {
    expect(recorded({ css: `/* ${'x'.repeat(2000)} */` })).toEqual({ options: {}, options_withheld: ['css'] });
  });
});
