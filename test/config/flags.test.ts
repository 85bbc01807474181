import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { optionsTable } from '../../src/config/flags.ts';

const DOCUMENT = join(import.meta.dirname, '../../docs/options.md');

describe('optionsTable', () => {
  it('returns the table that is in docs/options.md (`node scripts/options-table.ts` prints it)', () => {
    expect(readFileSync(DOCUMENT, 'utf8')).toContain(optionsTable());
  });
});
