import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PAGES, withTables } from '../../scripts/docs-tables.ts';
import { ROOT } from './pages.ts';

describe('generated tables', () => {
  it.each(PAGES)('finds up-to-date tables in %s (`npm run docs:tables` writes them)', (page) => {
    const text = readFileSync(join(ROOT, page), 'utf8');
    expect(text).toBe(withTables(page, text));
  });

  it('refuses a page without markers', () => {
    expect(() => withTables('docs/errors.md', '# Errors')).toThrow(
      'docs/errors.md has no markers for the table errors',
    );
  });
});
