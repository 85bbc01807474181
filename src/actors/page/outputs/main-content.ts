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
  const strict = attempt((doc) => new Defuddle(doc, { ...${JSON.stringify(DEFUDDLE_OPTIONS)}, url }).parse().content);
  if (lengthOf(strict) >= whole * ${SHARE}) return withHeading(strict);
  const readable = attempt((doc) => new Readability(doc).parse()?.content);
  const longer = lengthOf(readable) > lengthOf(strict) * ${FACTOR} ? readable : strict;
  if (lengthOf(longer) >= whole * ${MIN_SHARE}) return withHeading(longer);
  for (const each of copy.body.querySelectorAll(${JSON.stringify(NAVIGATION)})) each.remove();
  return copy.body;
}`;
