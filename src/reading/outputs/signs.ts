/**
 * Signs that a run is main content, in the order in which the trees of `trees.ts` name them. Each fifth of the pages of
 * `bench extraction` was scored with trees that were fitted on the others; signs that did not help were removed.
 */
export const SIGN_NAMES = [
  // Share that Defuddle selects: of the run, of runs at the same path, under the same heading, nearby; and where that
  // is.
  'extracted',
  'pathExtracted',
  'headingExtracted',
  'nearbyExtracted',
  'isInExtracted',
  'extractedShare',
  // Share of the page in the smallest element that holds the run and nearly all long paragraphs.
  'paragraphsShare',
  // Of the runs at the same path of elements: share of the page, number, length, share of different texts.
  'pathShare',
  'pathRuns',
  'pathWords',
  'pathTexts',
  // Siblings in the largest repetition around it, and in the innermost one.
  'repeatedShare',
  'repetitions',
  'repeatedWords',
  'repeatedLinked',
  'innerRepetitions',
  'position',
  'depth',
  'seenBefore',
  'sinceHeading',
  'headingLevel',
  'headingRuns',
  'headingWords',
  'headingLinked',
  'isElsewhere',
  'isReview',
  'sinceTitle',
  'isParagraph',
  'isItem',
  'boilerplate',
  'isControl',
  'words',
  'endsSentence',
  'capitals',
  'digits',
  'inTitle',
  // The largest elements around it with less than 0.6, and 0.3, of the page.
  'sectionLinked',
  'sectionShare',
  'partLinked',
  'partWords',
  'nearbyWords',
  'nearbyLinked',
  'longest',
  'longShare',
] as const;

const BOILERPLATE =
  'nav|navbar|navigation|aside|complementary|contentinfo|menu|mega|foot|footer|header|sidebar|side|widget|breadcrumbs?|cookie|consent|banner|ads?|advert\\w*|promo\\w*|popup|modal|dialog|newsletter|subscribe|signup|share|sharing|social|login|search|filter|facets?|toolbar|pagination|pager|skip|legal|copyright';
const CONTROLS =
  '©|copyright|all rights reserved|privacy policy|terms (?:of|and)|cookie|sign in|log ?in|subscribe|newsletter|sign up|follow us|share this|add to (?:cart|bag|basket|wish)|read more|learn more|view all|see all|show more|load more|skip to';
/** Headings above links to other pages, or above something other than the page's subject. */
const ELSEWHERE =
  'related|you may|you might|also (?:like|bought|viewed)|recommend|more from|more like|more to|similar|recently viewed|people also|customers who|popular|trending|latest|most read|frequently bought|leave a (?:reply|comment)|newsletter|share this|about the author|subscribe|follow us|contact us|quick links|categories|archives|recent posts|top sellers|featured topics|compare|accessories|as seen|sign up|sign in|log ?in|create an account|cookie|tags|advertisement|sponsored|explore';
const REVIEWS = 'reviews?|ratings?|feedback|comments?|questions|q&a|testimonials?|what people|customers say';

/** Maximum number of characters, without spaces, by which runs are compared. */
const BEGINNING = 60;
/** Maximum number of words of a button or legal notice, and of characters of a heading that describes its section. */
const MAX_CONTROL_WORDS = 30;
const MAX_HEADING_CHARACTERS = 60;
/** Minimum number of words of a long run. */
const LONG = 15;
/** Counts for `sinceHeading` where no heading is before a run: that of 400 runs. */
const NO_HEADING = 6;
/** Number of runs on each side that count as nearby. */
const NEARBY = 10;
/** Minimum number of siblings of the same kind that are a repetition. */
const MIN_REPEATED = 3;

/**
 * Runs in the page. Takes the runs of text in the body of a document, the runs of the main content that a library
 * found, and the title of the page. Returns the signs of each run in the order of `SIGN_NAMES`. Counts are logarithms.
 */
export const SIGNS = `(runs, body, extracted, title) => {
  const log = Math.log1p;
  const count = runs.length;
  const wordsOf = (text) => text.toLowerCase().match(/[\\p{L}\\p{N}_]+/gu) ?? [];
  const isLong = ({ words, linked, text }) => words >= ${LONG} && linked < text.length / 2;

  /** Runs that the library selected. Both lists have the same order, by which equal texts are distinguished. */
  const taken = new Set();
  const beginning = ({ text }) => text.replace(/ /g, '').slice(0, ${BEGINNING});
  const places = new Map();
  runs.forEach((run, at) => {
    const key = beginning(run);
    if (!places.has(key)) places.set(key, []);
    places.get(key).push(at);
  });
  let last = -1;
  for (const each of extracted) {
    const left = places.get(beginning(each));
    if (left === undefined || left.length === 0) continue;
    const ahead = left.findIndex((at) => at > last);
    const [at] = left.splice(Math.max(0, ahead), 1);
    taken.add(at);
    if (ahead !== -1 && (left.length === 0 || at - last < 200)) last = at;
  }

  const none = { characters: 0, linked: 0, words: 0, runs: 0, long: 0, taken: 0 };
  const sums = new Map([[body, { ...none }]]);
  runs.forEach((run, at) => {
    for (const element of [...run.around, body]) {
      if (!sums.has(element)) sums.set(element, { ...none });
      const sum = sums.get(element);
      sum.characters += run.text.length;
      sum.linked += run.linked;
      sum.words += run.words;
      sum.runs += 1;
      sum.long += isLong(run) ? run.words : 0;
      sum.taken += taken.has(at) ? run.words : 0;
    }
  });
  const whole = sums.get(body);
  const mostIn = (run, share) =>
    sums.get(run.around.findLast((each) => sums.get(each).characters < whole.characters * share) ?? run.around[0] ?? body);
  /** Returns the smallest element with this share of the count, and its ancestors. */
  const rootOf = (name, share) => {
    const chain = [body];
    let next = whole[name] === 0 ? undefined : body;
    while (next !== undefined) {
      next = [...chain[0].children].find((child) => (sums.get(child)?.[name] ?? 0) >= share * whole[name]);
      if (next !== undefined) chain.unshift(next);
    }
    return { root: chain[0], chain: new Set(chain) };
  };
  const [ofTaken, ofLong] = [rootOf('taken', 0.8), rootOf('long', 0.85)];
  const joinOf = (run, { chain }) => run.around.find((each) => chain.has(each)) ?? body;

  const kindOf = (element) => element.localName + '.' + element.className.trim().split(/\\s+/)[0];
  const kinds = new Map();
  const repeated = (element) => {
    const parent = element.parentElement;
    if (!kinds.has(parent)) {
      const found = new Map();
      for (const child of parent.children) {
        const sum = sums.get(child);
        if (sum === undefined) continue;
        const kind = found.get(kindOf(child)) ?? { count: 0, characters: 0, words: 0, linked: 0 };
        kind.count += 1;
        for (const name of ['characters', 'words', 'linked']) kind[name] += sum[name];
        found.set(kindOf(child), kind);
      }
      kinds.set(parent, found);
    }
    return kinds.get(parent).get(kindOf(element));
  };

  const [steps, paths] = [new Map([[body, 0]]), new Map()];
  const stepOf = (element) => {
    if (!steps.has(element)) steps.set(element, named(stepOf(element.parentElement) + '>' + kindOf(element)));
    return steps.get(element);
  };
  const names = new Map();
  const named = (name) => {
    if (!names.has(name)) names.set(name, names.size + 1);
    return names.get(name);
  };
  const pathOf = runs.map((run, at) => {
    const inner = run.nodes.find(({ nodeType }) => nodeType === 1)?.localName ?? '';
    const key = stepOf(run.around[0] ?? body) + '|' + inner;
    const path = paths.get(key) ?? { runs: 0, words: 0, logs: 0, taken: 0, texts: new Set() };
    path.runs += 1;
    path.words += run.words;
    path.logs += log(run.words);
    path.taken += taken.has(at) ? 1 : 0;
    path.texts.add(run.text);
    paths.set(key, path);
    return path;
  });

  const boilerplate = new Map();
  const isBoilerplate = (element) => {
    if (!boilerplate.has(element)) {
      const about = [element.localName, element.className, element.id, element.getAttribute('role') ?? ''].join(' ');
      boilerplate.set(element, /(?:^|[\\s_-])(?:${BOILERPLATE})(?:$|[\\s_-])/i.test(about));
    }
    return boilerplate.get(element);
  };

  const totals = (valueOf) => {
    const all = [0];
    runs.forEach((run, at) => all.push(all[at] + valueOf(run, at)));
    return (from, to) => all[to] - all[from];
  };
  const [words, logs] = [totals((run) => run.words), totals((run) => log(run.words))];
  const [characters, linked] = [totals(({ text }) => text.length), totals((run) => run.linked)];
  const takenWords = totals((run, at) => (taken.has(at) ? run.words : 0));
  const nextHeading = [];
  for (let at = count - 1, next = count; at >= 0; at -= 1) {
    nextHeading[at] = next;
    if (runs[at].level > 0) next = at;
  }
  const titled = new Set(wordsOf(title));
  const inTitle = ({ text }) => wordsOf(text).filter((word) => titled.has(word)).length;
  const first = runs.reduce((best, run, at) => {
    if (run.level !== 1) return best;
    const matches = inTitle(run);
    return best === undefined || matches > best.matches ? { at, matches } : best;
  }, undefined);
  const longest = runs.reduce((most, run) => Math.max(most, run.words), 0);

  const seen = new Map();
  let [headings, heading] = [[], undefined];
  return runs.map((run, at) => {
    const { text, around, tags, level } = run;
    if (level > 0) {
      headings = [...headings.filter((each) => each.level < level), run];
      heading = at;
    }
    const above = headings.map((each) => each.text).filter(({ length }) => length < ${MAX_HEADING_CHARACTERS});
    const [from, to] = [Math.max(0, at - ${NEARBY}), Math.min(count, at + ${NEARBY} + 1)];
    const [start, end] = [heading ?? 0, nextHeading[at]];
    const path = pathOf[at];
    const plain = wordsOf(text).join('');
    const before = seen.get(plain) ?? 0;
    seen.set(plain, before + 1);
    let [largest, inner] = [{ count: 0, characters: 0, words: 0, linked: 0 }, undefined];
    for (const element of around) {
      const kind = repeated(element);
      if (kind.count < ${MIN_REPEATED}) continue;
      inner ??= kind;
      if (kind.characters > largest.characters) largest = kind;
    }
    const join = joinOf(run, ofTaken);
    const [section, part] = [mostIn(run, 0.6), mostIn(run, 0.3)];
    const shareOf = (pattern) => (text.match(pattern) ?? []).length / text.length;
    return [
      taken.has(at) ? 1 : 0,
      path.taken / path.runs,
      takenWords(start, end) / words(start, end),
      takenWords(from, to) / words(from, to),
      join === ofTaken.root ? 1 : 0,
      sums.get(join).characters / whole.characters,
      sums.get(joinOf(run, ofLong)).characters / whole.characters,
      path.words / whole.words,
      log(path.runs),
      path.logs / path.runs,
      path.texts.size / path.runs,
      largest.characters / whole.characters,
      log(largest.count),
      log(largest.words / Math.max(1, largest.count)),
      largest.linked / Math.max(1, largest.characters),
      log(inner?.count ?? 0),
      words(0, at) / whole.words,
      around.length,
      log(before),
      heading === undefined ? ${NO_HEADING} : log(at - heading),
      headings.at(-1)?.level ?? 0,
      log(end - start),
      log(words(start, end) / (end - start)),
      linked(start, end) / characters(start, end),
      above.some((each) => /${ELSEWHERE}/i.test(each)) ? 1 : 0,
      above.some((each) => /${REVIEWS}/i.test(each)) ? 1 : 0,
      first === undefined || at < first.at ? -1 : log(at - first.at),
      tags[0] === 'p' || around[0]?.localName === 'p' ? 1 : 0,
      tags.includes('li') ? 1 : 0,
      around.filter(isBoilerplate).length,
      run.words < ${MAX_CONTROL_WORDS} && /${CONTROLS}/i.test(text) ? 1 : 0,
      log(run.words),
      /[.!?:;。”"')]$/.test(text) ? 1 : 0,
      shareOf(/\\p{Lu}/gu),
      shareOf(/\\d/g),
      inTitle(run) / Math.max(1, wordsOf(text).length),
      section.linked / section.characters,
      section.characters / whole.characters,
      part.linked / part.characters,
      log(part.words / part.runs),
      logs(from, to) / (to - from),
      linked(from, to) / characters(from, to),
      log(longest),
      whole.long / whole.words,
    ];
  });
}`;
