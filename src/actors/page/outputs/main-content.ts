/** Defuddle keeps what it would drop for its score alone: that leaves out sections of documentation and product pages. */
const DEFUDDLE_OPTIONS = { removeLowScoring: false };
/**
 * Defuddle's choice counts when it has this share of the painted text; below it, Readability's when that is this many
 * times as long. Chosen on the pages of `bench extraction`, where every share from 0.2 to 0.5 and every factor from 1 to 3
 * gives the same within 0.005.
 */
const SHARE = 0.33;
const FACTOR = 1.3;
/** Below this share of the painted text nobody found the main content: the page without its navigation is taken. */
const MIN_SHARE = 0.05;
const NAVIGATION =
  'nav, footer, aside, body > header, [role=navigation], [role=banner], [role=contentinfo], [role=search], [role=dialog]';

const MAX_ANNOUNCEMENT_CHARACTERS = 500_000;
const MIN_ANNOUNCED_CHARACTERS = 80;

/**
 * Runs in the page. Returns the element of the copy with the text that the page announces to search engines as that of its
 * article or posting (JSON-LD), or undefined. Nobody sees the announcement, so nothing of it is passed on.
 */
const ANNOUNCED = `(copy) => {
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
  const { get: textOf } = Object.getOwnPropertyDescriptor(Node.prototype, 'textContent');
  const scripts = Document.prototype.querySelectorAll.call(document, 'script[type="application/ld+json"]');
  for (const script of [...scripts].slice(0, 20)) {
    let words = '';
    try {
      const source = textOf.call(script);
      if (source.length <= ${MAX_ANNOUNCEMENT_CHARACTERS}) words = compact(textIn(JSON.parse(source), 0));
    } catch {}
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
 * Runs in the page. Returns an element with the main content of a document that has only what was painted. The document
 * may be changed. The content begins with the heading of the page, which the libraries take for its title and leave out.
 */
export const MAIN_CONTENT = `(copy, url, { Readability, Defuddle }) => {
  const lengthOf = (element) => element.textContent.replace(/\\s+/g, ' ').length;
  const whole = lengthOf(copy.body);
  const parsed = (html) => DOMParser.prototype.parseFromString.call(new DOMParser(), html ?? '', 'text/html').body;
  const attempt = (extract) => {
    try {
      return parsed(extract(copy.cloneNode(true)));
    } catch {
      // A page can make a library fail; another one may read it.
      return parsed('');
    }
  };
  const heading = copy.querySelector('h1')?.cloneNode(true);
  const withHeading = (content) => {
    const words = heading?.textContent.replace(/\\s+/g, '') ?? '';
    if (words !== '' && !content.textContent.replace(/\\s+/g, '').includes(words)) content.prepend(heading);
    return content;
  };
  const announced = (${ANNOUNCED})(copy);
  if (announced !== undefined) {
    // Defuddle looks for the element with this text.
    const script = copy.createElement('script');
    script.type = 'application/ld+json';
    script.textContent = JSON.stringify({ '@type': 'Article', articleBody: announced.textContent });
    copy.head.append(script);
  }
  const strict = attempt((doc) => new Defuddle(doc, { ...${JSON.stringify(DEFUDDLE_OPTIONS)}, url }).parse().content);
  if (lengthOf(strict) >= whole * ${SHARE}) return withHeading(strict);
  const readable = attempt((doc) => new Readability(doc).parse()?.content);
  const longer = lengthOf(readable) > lengthOf(strict) * ${FACTOR} ? readable : strict;
  if (lengthOf(longer) >= whole * ${MIN_SHARE}) return withHeading(longer);
  for (const each of copy.body.querySelectorAll(${JSON.stringify(NAVIGATION)})) each.remove();
  return copy.body;
}`;
