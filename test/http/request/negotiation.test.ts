import { describe, expect, it } from 'vitest';
import { preferImageOrJson, preferLinesOrJson, preferredType } from '../../../src/http/request/negotiation.ts';

describe('preferImageOrJson', () => {
  it.each([
    // No preference: the route decides.
    ['', 'json', 'json'],
    ['', 'image', 'image'],
    ['*/*', 'json', 'json'],
    ['*/*', 'image', 'image'],
    ['text/html', 'json', 'json'],
    ['text/html,application/xhtml+xml,*/*;q=0.8', 'image', 'image'],
    ['image/*;q=0, application/json;q=0', 'image', 'image'],
    ['nonsense', 'json', 'json'],
    // Accept as browsers send it.
    ['text/html,image/avif,image/webp,*/*;q=0.8', 'image', 'image'],
    ['image/avif,image/webp,image/*,*/*;q=0.8', 'json', 'image'],
    // One type only.
    ['image/*', 'json', 'image'],
    ['image/png', 'json', 'image'],
    ['IMAGE/PNG', 'json', 'image'],
    ['image/jpeg', 'json', 'json'],
    ['application/json', 'image', 'json'],
    ['application/*', 'image', 'json'],
    ['application/json; charset=utf-8', 'image', 'json'],
    // Both types: the higher weight, then the first.
    ['image/*, application/json', 'json', 'image'],
    ['application/json, image/*', 'image', 'json'],
    ['application/json;q=0.9, image/*', 'json', 'image'],
    ['image/*;q=0.5, application/json;q=0.6', 'image', 'json'],
    ['image/*, */*;q=0.1', 'json', 'image'],
    ['application/json, */*', 'image', 'json'],
    // The more specific range counts.
    ['image/*, image/png;q=0, application/json;q=0.1', 'image', 'json'],
    ['*/*, application/json;q=0.5', 'json', 'image'],
    ['image/png;q=nonsense, application/json;q=0.1', 'image', 'json'],
  ] as const)('returns for Accept %j, with %s as the default, %s', (accept, fallback, expected) => {
    expect(preferImageOrJson(accept, 'image/png', fallback)).toBe(expected);
  });
});

describe('preferLinesOrJson', () => {
  it.each([
    ['', 'lines', 'lines'],
    ['*/*', 'json', 'json'],
    ['*/*', 'lines', 'lines'],
    ['application/*', 'lines', 'lines'],
    ['application/x-ndjson', 'json', 'lines'],
    ['application/json', 'lines', 'json'],
    ['application/json, application/x-ndjson;q=0.9', 'lines', 'json'],
    ['application/x-ndjson, application/json', 'json', 'lines'],
    ['application/x-ndjson;q=0, */*', 'lines', 'json'],
  ] as const)('returns for Accept %j, with %s as the default, %s', (accept, fallback, choice) => {
    expect(preferLinesOrJson(accept, fallback)).toBe(choice);
  });
});

describe('preferredType', () => {
  const OFFERED = ['application/json', 'image/png', 'image/jpeg', 'image/webp', 'application/pdf'];

  it.each([
    ['', 'application/json'],
    ['nonsense', 'application/json'],
    ['*/*', 'application/json'],
    ['application/*', 'application/json'],
    ['image/*', 'image/png'],
    ['image/webp', 'image/webp'],
    ['application/pdf', 'application/pdf'],
    ['application/pdf, application/json', 'application/pdf'],
    ['application/json, image/webp', 'application/json'],
    ['image/webp;q=0.5, image/jpeg', 'image/jpeg'],
    ['image/webp, */*;q=0.1', 'image/webp'],
    ['text/html, image/webp;q=0.8, */*;q=0.7', 'image/webp'],
    ['image/*, image/png;q=0', 'image/jpeg'],
    ['image/gif', undefined],
    ['text/html', undefined],
    ['*/*;q=0', undefined],
  ])('returns for Accept %j the type %s', (accept, expected) => {
    expect(preferredType(accept, OFFERED)).toBe(expected);
  });
});
