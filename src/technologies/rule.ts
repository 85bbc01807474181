import type { SoftwareSigns, Technology } from '../capture/result/host-facts.ts';

/** Returns the groups of a match, the whole of it first; null without a match. Takes time linear in the text. */
export type Pattern = (text: string) => readonly (string | undefined)[] | null;

/** A pattern, and how the version is made of its groups: `\1`, or `\1?a:b` for `a` where the group has matched. */
export interface Sign {
  readonly pattern: Pattern;
  readonly version: string;
  /** In lower case; what does not have it does not match. */
  readonly literal?: string | undefined;
}

/** The signs of one technology. Names of headers and metas are in lower case. */
export interface Rule {
  readonly name: string;
  readonly headers?: Readonly<Record<string, readonly Sign[]>>;
  readonly cookies?: readonly CookieSign[];
  readonly metas?: Readonly<Record<string, readonly Sign[]>>;
  readonly scripts?: readonly Sign[];
  readonly titles?: readonly Sign[];
}

interface CookieSign {
  /** A whole name in lower case, or a pattern of names. */
  readonly name: string | Pattern;
  readonly value: Sign;
}

/** A text of a page, cut, and in lower case. */
interface Value {
  readonly text: string;
  readonly lower: string;
}

/** Signs as rules look them up. All keys are in lower case. */
interface SignIndex {
  readonly headers: ReadonlyMap<string, readonly Value[]>;
  readonly cookies: ReadonlyMap<string, readonly Value[]>;
  readonly metas: ReadonlyMap<string, readonly Value[]>;
  readonly scripts: readonly Value[];
  /** Whether the URL of a script may have a text of at least three characters in lower case; false when none has. */
  readonly mayBeInScripts: (literal: string) => boolean;
  readonly title: Value;
}

/** To be awaited between the steps of long work. */
type LetOthers = () => Promise<unknown>;

/** Longer values are cut: a sign is near the beginning. */
const MAX_CHARACTERS = 1_000;

export function indexOf({ headers, cookies, metas, scripts, title }: SoftwareSigns): SignIndex {
  const byName = (pairs: SoftwareSigns['headers']): ReadonlyMap<string, readonly Value[]> => {
    const groups = Map.groupBy(pairs, ({ name }) => name.toLowerCase());
    return new Map([...groups].map(([name, group]) => [name, group.map(({ value }) => cutValue(value))]));
  };
  return {
    headers: byName(headers),
    cookies: byName(cookies),
    metas: byName(metas),
    scripts: scripts.map(cutValue),
    mayBeInScripts: textFinder(scripts.join('\n').toLowerCase()),
    title: cutValue(title),
  };
}

function cutValue(whole: string): Value {
  const text = whole.slice(0, MAX_CHARACTERS);
  return { text, lower: text.toLowerCase() };
}

/** Yields the technology once for each sign of it, the first of each kind. */
export async function* matchesOf(rule: Rule, signs: SignIndex, letOthers: LetOthers): AsyncGenerator<Technology> {
  const { name, headers = {}, metas = {}, cookies = [], scripts = [], titles = [] } = rule;
  for (const header in headers) {
    const version = await firstVersion(letOthers, headers[header], signs.headers.get(header));
    if (version !== undefined) yield { name, version, sign: 'header' };
  }
  for (const cookie of cookies) {
    const version = await firstVersion(letOthers, [cookie.value], valuesOf(cookie, signs.cookies));
    if (version !== undefined) yield { name, version, sign: 'cookie' };
  }
  for (const meta in metas) {
    const version = await firstVersion(letOthers, metas[meta], signs.metas.get(meta));
    if (version !== undefined) yield { name, version, sign: 'meta' };
  }
  const possible = scripts.filter(({ literal }) => literal === undefined || signs.mayBeInScripts(literal));
  const ofScript = await firstVersion(letOthers, possible, signs.scripts);
  if (ofScript !== undefined) yield { name, version: ofScript, sign: 'script' };
  const ofTitle = await firstVersion(letOthers, titles, [signs.title]);
  if (ofTitle !== undefined) yield { name, version: ofTitle, sign: 'title' };
}

/** Returns a function that finds texts, and knows of most at once that the text does not have them. */
function textFinder(text: string): (literal: string) => boolean {
  const beginnings = new Set(Array.from({ length: text.length }, (_, at) => text.slice(at, at + 3)));
  return (literal) => beginnings.has(literal.slice(0, 3)) && text.includes(literal);
}

function valuesOf({ name }: CookieSign, cookies: SignIndex['cookies']): readonly Value[] | undefined {
  if (typeof name === 'string') return cookies.get(name);
  return [...cookies].flatMap(([each, values]) => (name(each) === null ? [] : values));
}

/** Returns the version by the first sign that matches; undefined when none does. */
async function firstVersion(
  letOthers: LetOthers,
  signs: readonly Sign[] = [],
  values: readonly Value[] = [],
): Promise<string | undefined> {
  for (const { pattern, version, literal } of signs) {
    for (const { text, lower } of values) {
      if (literal !== undefined && !lower.includes(literal)) continue;
      await letOthers();
      const groups = pattern(text);
      if (groups !== null) return versionOf(version, groups);
    }
  }
  return undefined;
}

function versionOf(template: string, groups: readonly (string | undefined)[]): string {
  const chosen = template.replace(/\\(\d)\?([^:]*):(.*)$/, (_, nth: string, one: string, other: string) =>
    groups[Number(nth)] ? one : other,
  );
  return chosen.replaceAll(/\\(\d)/g, (_, nth: string) => groups[Number(nth)] ?? '').trim();
}
