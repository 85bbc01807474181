import { describe, expect, it } from 'vitest';
import { describeOptions } from '../../../src/capture/options/describe.ts';
import { OPTION_GROUPS } from '../../../src/capture/options/groups.ts';

const described = Object.values(OPTION_GROUPS).flatMap((fields) => describeOptions(fields));
const option = (wanted: string) => described.find(({ name }) => name === wanted);

describe('describeOptions', () => {
  it.each([
    ['quality', 'an integer from 1 to 100', '80'],
    ['fullPage', 'true or false', 'false'],
    ['waitForSelector', 'text of at most 1000 characters', 'none'],
    ['hide', 'a list of at most 50: text of at most 1000 characters', 'none'],
    ['viewport', expect.stringContaining('width? (an integer from 1 to 4096)'), '1280 × 720'],
    ['locale', 'text of at most 100 characters', 'en-US'],
  ])('derives the accepted values and the default of %s from the schema', (name, takes, decided) => {
    expect(option(name)).toMatchObject({ takes, default: decided });
  });

  it.each(described)('describes $name', ({ description }) => {
    expect(description).toMatch(/^[A-Z].*\.$/s);
  });
});
