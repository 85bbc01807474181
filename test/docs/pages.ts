import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../..');

/** A fenced block of a page. */
export interface Block {
  readonly language: string;
  readonly code: string;
  /** Line of its opening fence, from 1. */
  readonly line: number;
}

export interface Page {
  /** Path in the repository: `docs/options.md`. */
  readonly path: string;
  readonly text: string;
  readonly blocks: readonly Block[];
}

/** README.md and every page in docs/. */
export function readPages(): readonly Page[] {
  const inDocs = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'));
  return ['README.md', ...inDocs.map((name) => `docs/${name}`)].map(readPage);
}

function readPage(path: string): Page {
  const text = readFileSync(join(ROOT, path), 'utf8');
  return { path, text, blocks: blocksOf(text) };
}

function blocksOf(text: string): readonly Block[] {
  const fenced = /^```(\w*)\n(.*?)^```$/gms;
  return [...text.matchAll(fenced)].map(({ 1: language = '', 2: code = '', index }) => ({
    language,
    code,
    line: text.slice(0, index).split('\n').length,
  }));
}
