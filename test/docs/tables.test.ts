import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PAGES, withTables } from '../../scripts/docs-tables.ts';
import { flagOf, OPTIONS } from '../../src/config/options.ts';
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

describe('docs/security.md', () => {
  it('names, for every option with a secret, the option that keeps it out of the list of processes', () => {
    const text = readFileSync(join(ROOT, 'docs/security.md'), 'utf8');
    const names = OPTIONS.map(({ name }) => name);
    const secrets = OPTIONS.filter(({ secret }) => secret !== undefined);
    const safer = secrets.map(({ name, variable }) =>
      names.includes(`${name}File`) ? flagOf(`${name}File`) : variable,
    );
    expect(safer.filter((one) => !text.includes(`\`${one}\``))).toEqual([]);
  });
});
