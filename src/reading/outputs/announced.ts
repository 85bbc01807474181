/*
 * JSON-LD that the page publishes for search engines. Visitors do not see it, so no output of text contains it.
 */

const MAX_ANNOUNCEMENT_CHARACTERS = 500_000;
const MIN_ANNOUNCED_CHARACTERS = 80;
/** Maximum number of descriptions of products that are compared, and of characters of one. */
const MAX_DESCRIPTIONS = 10;
const MAX_DESCRIPTION_CHARACTERS = 20_000;
/** Minimum number of words of a description, and the share of them that must be painted. */
const MIN_DESCRIPTION_WORDS = 20;
const MIN_PAINTED = 0.5;
/** Minimum number of words of a run in a description, and the share of them that is in the description too. */
const MIN_RUN_WORDS = 5;
const MIN_COMMON = 0.9;

/** Runs in the page. Returns its first 20 announcements. */
const ANNOUNCEMENTS = `() => {
  const { get: textOf } = Object.getOwnPropertyDescriptor(Node.prototype, 'textContent');
  const scripts = Document.prototype.querySelectorAll.call(document, 'script[type="application/ld+json"]');
  return [...scripts].slice(0, 20).flatMap((script) => {
    try {
      const source = textOf.call(script);
      return source.length <= ${MAX_ANNOUNCEMENT_CHARACTERS} ? [JSON.parse(source)] : [];
    } catch {
      return [];
    }
  });
}`;

/**
 * Runs in the page. Returns the element of the copy with the text that the page announces to search engines as that of
 * its article or posting, or undefined.
 */
export const ANNOUNCED = `(copy) => {
  const compact = (text) => text.replace(/\\s+/g, '');
  const textIn = (value, depth) => {
    if (typeof value !== 'object' || value === null || depth > 5) return '';
    if (!Array.isArray(value)) {
      if (typeof value.text === 'string') return value.text;
      if (typeof value.articleBody === 'string') return value.articleBody;
      return textIn(value['@graph'], depth + 1);
    }
    for (const each of value.slice(0, 100)) {
      const found = textIn(each, depth + 1);
      if (found !== '') return found;
    }
    return '';
  };
  for (const announcement of (${ANNOUNCEMENTS})()) {
    const words = compact(textIn(announcement, 0));
    if (words.length < ${MIN_ANNOUNCED_CHARACTERS}) continue;
    const holds = (element) => {
      const text = compact(element.textContent);
      return text.length >= words.length * 0.8 && text.includes(words.slice(0, ${MIN_ANNOUNCED_CHARACTERS}));
    };
    let best;
    for (let next = copy.body; next !== undefined; next = [...next.children].find(holds)) best = next;
    if (best !== copy.body) return best;
  }
  return undefined;
}`;

/**
 * Runs in the page. Returns, for each run, whether it is in the description of the product that the page announces;
 * undefined when it announces no product or several, or has not painted the description.
 */
export const DESCRIBED = `(runs) => {
  const withoutTags = (text) => text.replace(/<[^<>]*>/g, ' ');
  const wordsOf = (text) => text.toLowerCase().match(/[\\p{L}\\p{N}_]+/gu) ?? [];
  const wordsOfHtml = (html) => {
    const text = withoutTags(html.slice(0, ${MAX_DESCRIPTION_CHARACTERS}));
    const { body } = DOMParser.prototype.parseFromString.call(new DOMParser(), text, 'text/html');
    return wordsOf(withoutTags(body.textContent));
  };
  const isProduct = (type) => [type].flat().some((each) => typeof each === 'string' && /(?:^|\\/)Product(?:Group)?$/.test(each));
  const descriptionsIn = (value, depth) => {
    if (typeof value !== 'object' || value === null || depth > 5) return [];
    if (Array.isArray(value)) return value.slice(0, 100).flatMap((each) => descriptionsIn(each, depth + 1));
    const own = isProduct(value['@type']) && typeof value.description === 'string' ? [value.description] : [];
    return [...own, ...descriptionsIn(value['@graph'], depth + 1), ...descriptionsIn(value.mainEntity, depth + 1)];
  };
  const announced = [...new Set((${ANNOUNCEMENTS})().flatMap((each) => descriptionsIn(each, 0)))];
  if (announced.length > ${MAX_DESCRIPTIONS}) return undefined;
  const [description, another] = new Set(announced.map((each) => wordsOfHtml(each).join(' ')));
  if (description === undefined || another !== undefined) return undefined;
  const all = description.split(' ');
  if (all.length < ${MIN_DESCRIPTION_WORDS}) return undefined;
  const counts = new Map();
  for (const word of all) counts.set(word, (counts.get(word) ?? 0) + 1);
  const common = (words) => {
    const seen = new Map();
    return words.filter((word) => {
      seen.set(word, (seen.get(word) ?? 0) + 1);
      return seen.get(word) <= (counts.get(word) ?? 0);
    }).length;
  };
  const described = runs.map(({ text }) => {
    const words = wordsOf(text);
    return words.length >= ${MIN_RUN_WORDS} && common(words) >= ${MIN_COMMON} * words.length ? words.length : 0;
  });
  const painted = described.reduce((sum, words) => sum + words, 0);
  return painted < ${MIN_PAINTED} * all.length ? undefined : described.map((words) => words > 0);
}`;
