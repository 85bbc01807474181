import type { Notice } from '../notice.ts';

/*
 * Texts of notices hold text of pages. Each transport passes them through `plain`, and then escapes them for the
 * receiver's language.
 */

/** Control characters, lone surrogates, and format characters, which are invisible or change the direction of text. */
const UNWANTED = /[[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]--[\u200c\u200d\u2068\u2069]]/gv;
/** Joiners are part of emoji and of words of some scripts, but never next to ASCII. */
const LOOSE_JOINERS =
  /(?<=^|[\0-\x7f])[\u200c\u200d]+|(?<![\u200c\u200d])[\u200c\u200d]+(?=$|[\0-\x7f])|[\u200c\u200d](?=[\u200c\u200d])/g;

/** A directional isolate with its end, or what is left of one. */
const ISOLATES = /\u2068([^\u2068\u2069]*)\u2069|[\u2068\u2069]/g;

/** Returns a text as one line, without characters that a reader cannot see. Whole directional isolates are kept. */
export function plain(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .replace(UNWANTED, '')
    .replace(LOOSE_JOINERS, '')
    .replace(ISOLATES, (all, inner) => (inner === undefined ? '' : all))
    .trim();
}

/** Returns a text of at most `max` UTF-16 units for services that refuse an empty one. */
export function filled(text: string, max: number): string {
  return within(plain(text), max) || '\u2013';
}

/** Returns a text of a page as one line without its directional isolates: in one of ours if it runs right to left. */
export function isolated(text: string): string {
  const line = plain(text.replace(/[\u2068\u2069]/g, ''));
  return /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u.test(
    line,
  )
    ? `\u2068${line}\u2069`
    : line;
}

/** Escapes each character of a text, and cuts it so that at most `max` UTF-16 units are returned. */
export function within(text: string, max: number, escapeOne: (character: string) => string = (one) => one): string {
  let out = '';
  let cut: string | undefined;
  for (const character of text) {
    const piece = escapeOne(character);
    if (cut === undefined && out.length + piece.length > max - 1) cut = out;
    out += piece;
    if (out.length > max) return `${cut ?? ''}\u2026`;
  }
  return out;
}

/** Schemes that programs link without `//`, and all others. */
const SCHEMES = /(?<=\b(?:mailto|tel|sms|magnet|xmpp|bitcoin)):|(?<=[a-z][a-z\d+.-]*):(?=[/\\]{2})/gi;
/** Dots of host names: the last label of one has at least two letters. */
const DOTS = /(?<=[\p{L}\p{N}\p{M}_-])[.\uff0e](?=[\p{L}\p{M}]{2}|xn--)/giu;
const IP_ADDRESSES = /(?<!\d)\d{1,3}(?:\.\d{1,3}){3}(?!\d)/g;

/**
 * Returns a text in which no program finds a link: `https[:]//shop[.]example`. For receivers that show plain text,
 * where nothing can be escaped.
 */
export function defanged(text: string): string {
  return text
    .replace(SCHEMES, '[:]')
    .replace(DOTS, '[.]')
    .replace(/\/\/(?=\[)/g, '/[/]')
    .replace(IP_ADDRESSES, (address) => address.replaceAll('.', '[.]'));
}

/** Room for six signed links; every service takes that many characters. */
const MAX_LINKS_CHARACTERS = 1500;

/** Returns the links that can be shown: of `http` and `https`, with URLs that no language of a receiver takes apart. */
export function shownLinks(links: Notice['links']): Notice['links'] {
  let room = MAX_LINKS_CHARACTERS;
  return links.flatMap(({ label, url }) => {
    const target = linkUrl(url);
    if (target === null || target.length > room) return [];
    room -= target.length;
    return [{ label, url: target }];
  });
}

function linkUrl(url: string): string | null {
  if (!URL.canParse(url)) return null;
  const { protocol, href } = new URL(url);
  if (protocol !== 'https:' && protocol !== 'http:') return null;
  return href.replace(/[\s"'<>()[\]{}|\\^`]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}
