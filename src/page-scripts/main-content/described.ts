import { bodyOf, parseHtml, textOf } from '../dom/dom.ts';
import { announcements, isList, searchable } from './announced.ts';
import type { Run } from './runs.ts';
import { wordsOf } from './wording.ts';

/** Maximum number of descriptions of products that are compared, and of characters of one. */
const MAX_DESCRIPTIONS = 10;
const MAX_DESCRIPTION_CHARACTERS = 20_000;
/** Minimum number of words of a description, and the share of them that must be painted. */
const MIN_DESCRIPTION_WORDS = 20;
const MIN_PAINTED = 0.5;
/** Minimum number of words of a run in a description, and the share of them that is in the description too. */
const MIN_RUN_WORDS = 5;
const MIN_COMMON = 0.9;

/**
 * Returns, for each run, whether it is in the description of the product that the page announces; undefined when it
 * announces no product or several, or has not painted the description.
 */
export function describedRuns(runs: readonly Run[]): boolean[] | undefined {
  const description = announcedDescription();
  if (description === undefined || description.length < MIN_DESCRIPTION_WORDS) return undefined;
  const counts = countsOf(description);
  const described = runs.map(({ text }) => {
    const words = wordsOf(text);
    return words.length >= MIN_RUN_WORDS && common(words, counts) >= MIN_COMMON * words.length ? words.length : 0;
  });
  const painted = described.reduce((sum, words) => sum + words, 0);
  return painted < MIN_PAINTED * description.length ? undefined : described.map((words) => words > 0);
}

/** Returns the words of the only description. */
function announcedDescription(): string[] | undefined {
  const announced = [...new Set(announcements().flatMap((each) => descriptionsIn(each, 0)))];
  if (announced.length > MAX_DESCRIPTIONS) return undefined;
  const [description, another] = new Set(announced.map((each) => wordsOfHtml(each).join(' ')));
  return another === undefined ? description?.split(' ') : undefined;
}

function descriptionsIn(value: unknown, depth: number): string[] {
  const found = searchable(value, depth);
  if (found === undefined) return [];
  if (isList(found)) return found.flatMap((each) => descriptionsIn(each, depth + 1));
  const { '@type': type, '@graph': graph, description, mainEntity } = found;
  const own = isProduct(type) && typeof description === 'string' ? [description] : [];
  return [...own, ...descriptionsIn(graph, depth + 1), ...descriptionsIn(mainEntity, depth + 1)];
}

const isProduct = (type: unknown): boolean =>
  [type].flat().some((each) => typeof each === 'string' && /(?:^|\/)Product(?:Group)?$/.test(each));

function wordsOfHtml(html: string): string[] {
  const body = bodyOf(parseHtml(withoutTags(html.slice(0, MAX_DESCRIPTION_CHARACTERS))));
  return body === null ? [] : wordsOf(withoutTags(textOf(body)));
}

function countsOf(words: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

/** Returns the number of words that are among the counted ones, each as often as there. */
function common(words: readonly string[], counts: ReadonlyMap<string, number>): number {
  const seen = new Map<string, number>();
  return words.filter((word) => {
    const count = (seen.get(word) ?? 0) + 1;
    seen.set(word, count);
    return count <= (counts.get(word) ?? 0);
  }).length;
}

const withoutTags = (text: string): string => text.replace(/<[^<>]*>/g, ' ');
