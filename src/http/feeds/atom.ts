import { ARTIFACTS } from '../../capture/artifacts/artifacts.ts';
import { escapedHtml } from '../../capture/basics/html-text.ts';
import { packageVersion } from '../../version.ts';
import { contentOf, uriOf } from './content.ts';
import type { FeedPage, ShownEntry } from './feed.ts';

/* Atom (RFC 4287), with pages as RFC 5005 has them. */

export function atomOf({ id, title, self, next, home, updated, entries }: FeedPage): string {
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>${xmlText(id)}</id>
<title>${xmlText(title)}</title>
<updated>${xmlText(updated)}</updated>
<author><name>Capstan</name></author>
<generator version="${xmlText(packageVersion())}">Capstan</generator>
${link('self', self, 'application/atom+xml')}${link('alternate', home, 'text/html')}${link('next', next, 'application/atom+xml')}${entries.map(entryOf).join('')}</feed>
`;
}

function entryOf(entry: ShownEntry): string {
  const { id, at, title, url, labels, page, screenshot } = entry;
  const enclosure = screenshot && {
    type: ARTIFACTS.image.mediaType(screenshot.info.format),
    length: String(screenshot.info.bytes),
  };
  return `<entry>
<id>${xmlText(id)}</id>
<title>${xmlText(title)}</title>
<published>${xmlText(at)}</published>
<updated>${xmlText(at)}</updated>
${link('alternate', page, 'text/html')}${link('related', uriOf(url))}${link('enclosure', screenshot?.url, enclosure?.type, enclosure?.length)}${labels.map((label) => `<category term="${xmlText(label)}"/>\n`).join('')}<content type="html">${xmlText(contentOf(entry))}</content>
</entry>
`;
}

function link(rel: string, href: string | undefined, type?: string, length?: string): string {
  if (href === undefined) return '';
  const attributes = Object.entries({ rel, href, type, length }).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}="${xmlText(value)}"`],
  );
  return `<link ${attributes.join(' ')}/>\n`;
}

/** Characters that XML 1.0 does not have, in any form. */
const NOT_OF_XML = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

/** Escapes a text for an element or a quoted attribute. */
function xmlText(text: string): string {
  return escapedHtml(text.toWellFormed().replaceAll(NOT_OF_XML, '\u{FFFD}'));
}
