import type { Product } from './products.ts';

const MAX_WORDS = 5;
const VERSION = /^v?(\d[\w.]*(?:-[\w.]+)?)[,;)]*$/i;
/** Where the name of a generator ends: before a description, an address or a remark. */
const END = /^(?:[-–—|(]|https?:|by$|see$|for$)/i;

/** Returns the software that the meta element `generator` names: `WordPress 6.4.2`, `Joomla! - Open Source ...`. */
export function generatorIn(content: string): readonly Product[] {
  const words = content
    .slice(0, 200)
    .replace(/^powered by\s+/i, '')
    .split(/\s+/)
    .filter((word) => word !== '');
  const name: string[] = [];
  for (const word of words) {
    const [, version] = VERSION.exec(word) ?? [];
    if (version !== undefined) return named(name, version);
    if (END.test(word) || name.length === MAX_WORDS) break;
    name.push(word.replace(/[,;:]+$/, ''));
    if (/[,;:]$/.test(word)) break;
  }
  return named(name, '');
}

function named(words: readonly string[], version: string): readonly Product[] {
  const name = words.join(' ');
  return /\p{L}/u.test(name) && !/[<>{}\\]/.test(name) ? [{ name, version }] : [];
}
