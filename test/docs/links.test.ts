import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT, readPages } from './pages.ts';

const OTHER_PAGES = ['CONTRIBUTING.md', 'CHANGELOG.md', 'bench/README.md'];
const MAX_README_LINES = 150;
const paths = [...readPages().map(({ path }) => path), ...OTHER_PAGES];

describe('links between pages', () => {
  it.each(paths)('finds the files and headings that links lead to: %s', (path) => {
    expect(brokenLinks(path)).toEqual([]);
  });
});

describe('paths that pages name', () => {
  it.each(paths)('finds the paths that a page names: %s', (path) => {
    const named = [...read(path).matchAll(/`((?:src|test|bench|scripts|examples|config|docs)\/[\w./*-]+)`/g)];
    const missing = named
      .map(([, file = '']) => file)
      .filter((file) => !existsSync(join(ROOT, file.replace(/\*.*$/, ''))));
    expect(missing).toEqual([]);
  });
});

describe('README.md', () => {
  it(`keeps README.md within ${MAX_README_LINES} lines`, () => {
    expect(read('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(MAX_README_LINES);
  });
});

function brokenLinks(path: string): readonly string[] {
  const links = [...read(path).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
  return links.filter((link) => !/^https?:/.test(link) && !resolves(path, link));
}

function resolves(from: string, link: string): boolean {
  const [file = '', anchor] = link.split('#');
  const target = file === '' ? from : join(dirname(from), file);
  if (!existsSync(join(ROOT, target))) return false;
  return anchor === undefined || anchorsOf(read(target)).includes(anchor);
}

/** Returns the anchors of a page's headings, as GitHub generates them. */
function anchorsOf(text: string): readonly string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}
