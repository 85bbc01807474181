import { describe, expect, it } from 'vitest';
import { suggestion } from '../../../src/capture/basics/similar-names.ts';
import { optionFields } from '../../../src/capture/options/groups.ts';

describe('suggestion', () => {
  it.each([
    ['full_page', 'fullPage'],
    ['fullpage', 'fullPage'],
    ['fulPage', 'fullPage'],
    ['wait_until', 'waitUntil'],
    ['user-agent', 'userAgent'],
    ['cookie', 'cookies'],
    ['delay', 'delayMs'],
    ['dark_mode', 'darkMode'],
  ])('asks for %s whether %s was meant', (name, meant) => {
    expect(suggestion([name], Object.keys(optionFields))).toBe(`; did you mean ${meant}?`);
  });

  it.each(['zzz', '', 'x', 'expires'])('suggests nothing for %j, which is like no option', (name) => {
    expect(suggestion([name], Object.keys(optionFields))).toBe('');
  });
});
