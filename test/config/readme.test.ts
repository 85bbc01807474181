import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { optionsTable } from '../../src/config/flags.ts';

const README = join(import.meta.dirname, '../../README.md');
const text = existsSync(README) ? readFileSync(README, 'utf8') : '';
const [header = ''] = optionsTable().split('\n');

describe('the README', () => {
  it.runIf(text.includes(header))('has the table of options as `node scripts/options-table.ts` prints it', () => {
    expect(text).toContain(optionsTable());
  });
});
