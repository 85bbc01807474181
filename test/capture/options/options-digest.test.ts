import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { likeness, optionsDigest } from '../../../src/capture/options/options-digest.ts';
import type { CaptureOptions } from '../../../src/capture/request.ts';
import { captureRequest } from '../../support/capture-request.ts';

const request = (options: CaptureOptions = {}) => captureRequest('https://example.com/', options);

describe('optionsDigest', () => {
  it.each<[CaptureOptions]>([
    [{ fullPage: false }],
    [{ format: 'png', quality: 80 }],
    [{ viewport: { width: 1280, height: 720 } }],
    [{ waitUntil: 'settled', delayMs: 0 }],
    [{ hide: [], evidence: [] }],
    [{ timeoutMs: 1000 }],
    [{ media: 'screen' }],
    [{ cacheMaxAgeMs: 1000 }],
    [{ callback: 'https://example.com/told' }],
  ])('returns the digest of a request without options for %j', (options) => {
    expect(optionsDigest(request(options))).toBe(optionsDigest(request()));
  });

  it.each<[CaptureOptions]>([
    [{ fullPage: true }],
    [{ quality: 79 }],
    [{ device: 'iPhone 15' }],
    [{ delayMs: 1 }],
    [{ evidence: ['tls'] }],
    [{ proxy: { server: 'http://proxy.example:8080' } }],
  ])('returns another digest for %j than for a request without options', (options) => {
    expect(optionsDigest(request(options))).toMatch(/^[0-9a-f]{64}$/);
    expect(optionsDigest(request(options))).not.toBe(optionsDigest(request()));
  });

  it('returns another digest than versions whose default of waitUntil was load', () => {
    const before = createHash('sha256').update('[]').digest('hex');
    expect(optionsDigest(request())).not.toBe(before);
  });

  it('returns the same digest whatever the order of keys', () => {
    const clip = { x: 1, y: 2, width: 3, height: 4 };
    const turned = { height: 4, width: 3, y: 2, x: 1 };
    expect(optionsDigest(request({ clip }))).toBe(optionsDigest(request({ clip: turned })));
  });

  it.each<[CaptureOptions]>([
    [{ headers: { authorization: 'Bearer x' } }],
    [{ cookies: [{ name: 'a', value: 'b' }] }],
    [{ httpCredentials: { username: 'a', password: 'b' } }],
    [{ proxy: { server: 'http://a:b@proxy.example:8080' } }],
    [{ actions: [{ type: 'type', selector: '#password', text: 'x' }] }],
    [{ form: { fields: { password: 'x' } } }],
  ])('returns an empty digest for %j, which may contain secrets', (options) => {
    expect(optionsDigest(request(options))).toBe('');
    expect(likeness(request(options))).not.toBe(likeness(request()));
  });
});
