import { escapedHtml } from '../../capture/basics/html-text.ts';
import type { Notice } from '../notice.ts';
import { defanged, plain, shownLinks, within } from './plain-text.ts';

/*
 * The texts of a mail. Programs make links of what looks like one, in the HTML part too, so that texts are defanged in
 * both parts; the links of the notice are the only ones.
 */

/** Longer lines of a header are folded, but phones show about this much. */
const MAX_SUBJECT = 150;
const MAX_TEXT = 4000;

/** Asks programs for phones not to make links of numbers, dates and places. */
const HEAD =
  '<meta charset="utf-8"><meta name="format-detection" content="telephone=no, date=no, address=no, email=no, url=no">';
const BODY_STYLE = 'font:15px/1.5 system-ui,sans-serif;margin:0;padding:16px;max-width:680px;overflow-wrap:anywhere';
const IMAGE_STYLE = 'display:block;max-width:100%;height:auto;border:1px solid #ccc;border-radius:4px;margin:12px 0';

/** One line without line breaks, so that it can add no header. */
export function subjectOf({ about, sentence }: Notice): string {
  return within(plain(`${about}: ${sentence}`), MAX_SUBJECT);
}

export function textOf({ about, sentence, facts, links }: Notice): string {
  return [
    shown(about),
    '',
    shown(sentence),
    '',
    ...facts.map(({ label, text }) => `${label}: ${shown(text)}`),
    ...shownLinks(links).map(({ label, url }) => `${label}: ${url}`),
    '',
  ].join('\n');
}

/** `images`: content ids and descriptions. */
export function htmlOf(
  { about, sentence, isProblem, facts, links }: Notice,
  images: readonly { readonly cid: string; readonly alt: string }[],
): string {
  const colour = isProblem ? '#b3261e' : '#1a1a1a';
  const parts = [
    `<p style="margin:0;color:#666">${html(about)}</p>`,
    `<p style="margin:4px 0 12px;font-size:18px;color:${colour}"><strong>${html(sentence)}</strong></p>`,
    ...images.map(
      ({ cid, alt }) => `<img src="cid:${escapedHtml(cid)}" alt="${escapedHtml(alt)}" style="${IMAGE_STYLE}">`,
    ),
    ...facts.map(({ label, text }) => `<p style="margin:0">${escapedHtml(label)}: ${html(text)}</p>`),
    `<p>${shownLinks(links)
      .map(({ label, url }) => `<a href="${escapedHtml(url)}" rel="noopener noreferrer">${escapedHtml(label)}</a>`)
      .join(' \u00b7 ')}</p>`,
  ];
  return `<!doctype html><html lang="en"><head>${HEAD}</head><body style="${BODY_STYLE}">${parts.join('\n')}</body></html>`;
}

function html(text: string): string {
  return escapedHtml(shown(text));
}

function shown(text: string): string {
  return defanged(within(plain(text), MAX_TEXT));
}
