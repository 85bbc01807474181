import { takeTurns } from '../capture/basics/event-loop-turns.ts';
import type { SoftwareSigns, Technology } from '../capture/result/host-facts.ts';
import { productOfIcon } from './icons.ts';
import { libraryNamed, libraryOf } from './libraries.ts';
import type { Product } from './products.ts';
import { productsIn } from './products.ts';
import { indexOf, matchesOf, type Rule } from './rule.ts';
import { RULES } from './rules.ts';

/** Maximum number of technologies of a capture. */
const MAX_TECHNOLOGIES = 50;
const MAX_NAME_CHARACTERS = 60;
const MAX_VERSION_CHARACTERS = 40;

/** Returns the company that a script of another host belongs to; undefined when it is not known. */
export type CompanyOf = (url: string) => string | undefined;

/**
 * Finds the software that the signs name, each once, with its version where one of the signs has it. Other requests have
 * turns meanwhile: a page chooses how many patterns of a large file of rules must be tried.
 */
export async function findTechnologies(
  signs: SoftwareSigns,
  companyOf: CompanyOf = () => undefined,
  rules: readonly Rule[] = [],
): Promise<readonly Technology[]> {
  const found = new Map<string, Technology>();
  const note = (technology: Technology) => {
    const name = technology.name.slice(0, MAX_NAME_CHARACTERS);
    const version = technology.version.slice(0, MAX_VERSION_CHARACTERS);
    const key = name.toLowerCase();
    const before = found.get(key);
    if (before === undefined ? found.size < MAX_TECHNOLOGIES : before.version === '' && version !== '') {
      found.set(key, { name: before?.name ?? name, version, sign: technology.sign });
    }
  };
  for (const { name, value } of signs.headers) {
    if (!/^(?:server|x-powered-by)$/i.test(name)) continue;
    for (const product of productsIn(value)) note({ ...product, sign: 'header' });
  }
  for (const { name, value } of signs.metas) {
    if (name === 'generator') for (const product of generatorIn(value)) note({ ...product, sign: 'meta' });
  }
  const index = indexOf(signs);
  const letOthers = takeTurns();
  for (const rule of [...RULES, ...rules]) {
    await letOthers();
    for await (const technology of matchesOf(rule, index, letOthers)) note(technology);
  }
  for (const url of signs.scripts) {
    const library = libraryOf(url);
    if (library !== undefined) note({ ...library, sign: 'script' });
  }
  for (const { name, version } of signs.libraries) note({ name: libraryNamed(name) ?? name, version, sign: 'script' });
  const ofIcon = signs.favicon === null ? undefined : productOfIcon(signs.favicon);
  if (ofIcon !== undefined) note({ name: ofIcon, version: '', sign: 'favicon' });
  const own = companyOf(signs.url);
  for (const url of signs.scripts) {
    const company = companyOf(url);
    if (company !== undefined && company !== own) note({ name: company, version: '', sign: 'script' });
  }
  return [...found.values()];
}

const MAX_WORDS = 5;
const VERSION = /^v?(\d[\w.]*(?:-[\w.]+)?)[,;)]*$/i;
/** Where the name of a generator ends: before a description, an address or a remark. */
const END = /^(?:[-–—|(]|https?:|by$|see$|for$)/i;

/** Returns the software that the meta element `generator` names: `WordPress 6.4.2`, `Joomla! - Open Source ...`. */
function generatorIn(content: string): readonly Product[] {
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
