/**
 * Signs that a run is main content, and what each adds to the logarithm of the odds. Fitted by logistic regression on the
 * pages of `bench extraction`, on which a run weighs as much as its share of the words.
 */
export const WEIGHTS = {
  base: -0.13,
  /** Whether Defuddle takes it for main content. */
  extracted: 1.24,
  paragraph: 0.77,
  footer: -2.39,
  /** Number of elements around it that are called navigation, sidebar, advertisement and the like. */
  boilerplate: -0.16,
  /** Whether it is short and says what buttons and legal notices say. */
  control: -1.14,
  /** Whether the heading before it announces other pages. */
  elsewhere: -0.95,
  /** Number of runs since the last heading, as a logarithm. */
  sinceHeading: -0.22,
  /** Share of links in the largest element around it that is a part of the page. */
  sectionLinked: -1.06,
  /** Mean number of words of the runs around it, as a logarithm. */
  surroundings: 0.87,
  /** Number of siblings in the largest repetition around it, as a logarithm, and the share of the page that they have. */
  repetitions: 0.19,
  repeatedShare: 0.98,
  /** Share of its characters. */
  digits: -1.21,
  /** Number of words of the page's longest run, as a logarithm. */
  longest: -0.52,
} as const;

const BOILERPLATE =
  'nav|navbar|navigation|aside|complementary|contentinfo|menu|mega|foot|footer|header|sidebar|side|widget|breadcrumbs?|cookie|consent|banner|ads?|advert\\w*|promo\\w*|popup|modal|dialog|newsletter|subscribe|signup|share|sharing|social|login|search|filter|facets?|toolbar|pagination|pager|skip|legal|copyright';
const CONTROLS =
  '©|copyright|all rights reserved|privacy policy|terms (?:of|and)|cookie|sign in|log ?in|subscribe|newsletter|sign up|follow us|share this|add to (?:cart|bag|basket|wish)|read more|learn more|view all|see all|show more|load more|skip to';
const ELSEWHERE =
  'related|you may|you might|also (?:like|bought|viewed)|recommended|more from|similar|recently viewed|people also|popular|trending|latest|most read|frequently bought|leave a (?:reply|comment)|newsletter|share this|about the author|subscribe|follow us|contact us|quick links|categories|archives|recent posts';

/** Maximum number of characters, without spaces, by which runs are compared. */
const BEGINNING = 60;
/** An element with a larger share of the page's text is the page, not a part of it. */
const MAX_PART = 0.6;
/** Maximum number of words of what a button or a legal notice says. */
const MAX_CONTROL_WORDS = 30;
/** Counts for `sinceHeading` where no heading is before a run: that of 400 runs. */
const NO_HEADING = 6;
/** Number of runs on each side that are around a run. */
const SURROUNDINGS = 10;
/** Minimum number of siblings of the same kind that are a repetition. */
const MIN_REPEATED = 3;

/**
 * Runs in the page, with runs of text in the body of a document, and those of the main content that a library found in it.
 * Returns the signs of each, by their names in `WEIGHTS`.
 */
export const SIGNS = `(runs, body, extracted) => {
  const log = Math.log1p;
  const whole = runs.reduce((sum, { text }) => sum + text.length, 0);
  const longest = runs.reduce((most, { words }) => Math.max(most, words), 0);
  const beginning = ({ text }) => text.replace(/ /g, '').slice(0, ${BEGINNING});
  const known = new Set(extracted.map(beginning));

  const sums = new Map();
  for (const { around, text, linked } of runs) {
    for (const element of [...around, body]) {
      const sum = sums.get(element) ?? { characters: 0, linked: 0 };
      sum.characters += text.length;
      sum.linked += linked;
      sums.set(element, sum);
    }
  }

  /** Returns how many siblings of the same kind an element has, itself included, and the text in them. */
  const kinds = new Map();
  const kindOf = (element) => element.localName + '.' + element.className.trim().split(/\\s+/)[0];
  const repeated = (element) => {
    const parent = element.parentElement;
    if (!kinds.has(parent)) {
      const found = new Map();
      for (const child of parent.children) {
        const sum = sums.get(child);
        if (sum === undefined) continue;
        const kind = found.get(kindOf(child)) ?? { count: 0, characters: 0 };
        kind.count += 1;
        kind.characters += sum.characters;
        found.set(kindOf(child), kind);
      }
      kinds.set(parent, found);
    }
    return kinds.get(parent).get(kindOf(element));
  };
  const largestRepeated = (around) => {
    let largest = { count: 0, characters: 0 };
    for (const element of around) {
      const kind = repeated(element);
      if (kind.count >= ${MIN_REPEATED} && kind.characters > largest.characters) largest = kind;
    }
    return largest;
  };

  const boilerplate = new Map();
  const isBoilerplate = (element) => {
    if (!boilerplate.has(element)) {
      const names = [element.localName, element.className, element.id, element.getAttribute('role') ?? ''].join(' ');
      boilerplate.set(element, /(?:^|[\\s_-])(?:${BOILERPLATE})(?:$|[\\s_-])/i.test(names));
    }
    return boilerplate.get(element);
  };

  const lengths = [0];
  for (const { words } of runs) lengths.push(lengths.at(-1) + log(words));
  let heading;
  return runs.map((run, at) => {
    const { text, around, tags, words, level } = run;
    if (level > 0) heading = { text, at };
    const [from, to] = [Math.max(0, at - ${SURROUNDINGS}), Math.min(runs.length, at + ${SURROUNDINGS} + 1)];
    const most = around.findLast((each) => sums.get(each).characters < whole * ${MAX_PART}) ?? around[0] ?? body;
    const section = sums.get(most);
    const repetition = largestRepeated(around);
    return {
      extracted: known.has(beginning(run)) ? 1 : 0,
      paragraph: tags[0] === 'p' || around[0]?.localName === 'p' ? 1 : 0,
      footer: tags.includes('footer') ? 1 : 0,
      boilerplate: around.filter(isBoilerplate).length,
      control: words < ${MAX_CONTROL_WORDS} && /${CONTROLS}/i.test(text) ? 1 : 0,
      elsewhere: heading !== undefined && /${ELSEWHERE}/i.test(heading.text) ? 1 : 0,
      sinceHeading: heading === undefined ? ${NO_HEADING} : log(at - heading.at),
      sectionLinked: section.linked / section.characters,
      surroundings: (lengths[to] - lengths[from]) / (to - from),
      repetitions: log(repetition.count),
      repeatedShare: repetition.characters / whole,
      digits: (text.match(/\\d/g) ?? []).length / text.length,
      longest: log(longest),
    };
  });
}`;
