import { Parser } from 'htmlparser2';
import { MAX_INDEXED_CHARACTERS } from '../../capture/result/page-words.ts';
import { comparable } from '../../words/comparable.ts';

/* The text of a stored HTML snapshot, for captures whose painted text was not recorded. */

const UNSEEN = new Set(
  'head script style noscript template title iframe object svg math select datalist audio video canvas'.split(' '),
);
const INLINE = new Set(
  'a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark q s samp small span strike strong sub sup time tt u var wbr'.split(
    ' ',
  ),
);
const HIDING = /display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)/i;

/**
 * Returns the text of HTML, with a line for each block, at most `MAX_INDEXED_CHARACTERS`. `isSeen`: whether a run of text was
 * seen; a run consists of the texts between two tags. Text that the HTML itself hides is left out.
 */
export function textOfHtml(html: string, isSeen: (run: string) => boolean): string {
  /** Names of the open elements, and whether they are in one that is not shown. */
  const open: { readonly name: string; readonly isHidden: boolean }[] = [];
  let text = '';
  let run = '';
  const endRun = (isBlock: boolean) => {
    const words = comparable(run);
    const isSpaced = /^\s/.test(run) && text !== '' && !/\s$/.test(text);
    const isShown = words !== '' && open.at(-1)?.isHidden !== true && isSeen(words);
    if (isSpaced) text += ' ';
    if (isShown) text += words + (/\s$/.test(run) ? ' ' : '');
    run = '';
    if (isBlock && !/\n$/.test(text)) text = `${text.trimEnd()}\n`;
  };
  const parser = new Parser({
    onopentag: (name, attributes) => {
      if (name !== 'wbr') endRun(!INLINE.has(name));
      const isUnseen = UNSEEN.has(name) && attributes.shadowrootmode === undefined;
      const isHidden = isUnseen || attributes.hidden !== undefined || HIDING.test(attributes.style ?? '');
      open.push({ name, isHidden: isHidden || open.at(-1)?.isHidden === true });
    },
    ontext: (data) => {
      if (run.length < MAX_INDEXED_CHARACTERS) run += data;
    },
    onclosetag: (name) => {
      if (name !== 'wbr') endRun(!INLINE.has(name));
      open.pop();
      if (text.length > MAX_INDEXED_CHARACTERS) parser.reset();
    },
  });
  parser.write(html);
  parser.end();
  return text.trim().slice(0, MAX_INDEXED_CHARACTERS).toWellFormed();
}
