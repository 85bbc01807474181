import { escapedHtml, linkedUrl } from '../capture/basics/html-text.ts';
import { optionLabels } from '../capture/options/option-labels.ts';
import { outcomeOf } from '../capture/result/recorded-outcome.ts';
import type { Result } from '../capture/result/result.ts';
import { FILTER, FILTER_SCRIPT, FILTER_SOURCE } from './page-filter.ts';

/*
 * Pages of an exported gallery. Titles and URLs are untrusted: all values are escaped, and the page's Content Security
 * Policy also forbids scripts, except the filter of a scan's pages.
 */

/** A capture on a page. */
export interface Card {
  readonly result: Pick<
    Result,
    | 'id'
    | 'title'
    | 'url'
    | 'probed_at'
    | 'response_code'
    | 'failed'
    | 'failed_code'
    | 'failed_reason'
    | 'options'
    | 'options_withheld'
  >;
  /** Path of the thumbnail, relative to the page; undefined when there is none. */
  readonly thumbnail: string | undefined;
  /** Facts shown below the title, each on a line. */
  readonly facts?: readonly string[];
  /** Captures that look like this one, which are folded into it. */
  readonly alike?: readonly Card[];
}

interface GalleryPage {
  readonly cards: readonly Card[];
  /** Page number, from 1. */
  readonly number: number;
  readonly hasNext: boolean;
  /** Of a scan: whether there is a list of targets that were not captured. */
  readonly hasFailures?: boolean;
}

/** Targets on a page that were not captured. */
interface FailuresPage extends Omit<GalleryPage, 'cards' | 'hasFailures'> {
  readonly failures: readonly {
    readonly url: string;
    readonly code: string;
    readonly reason: string;
    readonly certificate?: string | undefined;
  }[];
}

/** Name of a page's file. */
export function pageName(number: number, list: 'gallery' | 'failures' = 'gallery'): string {
  if (list === 'failures') return number === 1 ? 'failures.html' : `failures-${number}.html`;
  return number === 1 ? 'index.html' : `page-${number}.html`;
}

export function galleryPage({ cards, number, hasNext, hasFailures }: GalleryPage): string {
  const isScan = hasFailures !== undefined;
  const newer = number > 1 ? `<a rel="prev" href="${pageName(number - 1)}">${isScan ? 'Back' : 'Newer'}</a>` : '';
  const older = hasNext ? `<a rel="next" href="${pageName(number + 1)}">${isScan ? 'More' : 'Older'}</a>` : '';
  const failures = hasFailures ? ` <a href="${pageName(1, 'failures')}">Not captured</a>` : '';
  const navigation = `<nav>${newer} <span>Page ${number}</span> ${older}${failures}</nav>`;
  const list = `<ul>
${cards.map(cardHtml).join('\n')}
</ul>`;
  return pageHtml(`Captures, page ${number}`, 'Captures', navigation, list, isScan);
}

export function failuresPage({ failures, number, hasNext }: FailuresPage): string {
  const back = number > 1 ? `<a rel="prev" href="${pageName(number - 1, 'failures')}">Back</a>` : '';
  const more = hasNext ? `<a rel="next" href="${pageName(number + 1, 'failures')}">More</a>` : '';
  const navigation = `<nav>${back} <span>Page ${number}</span> ${more} <a href="${pageName(1)}">Captures</a></nav>`;
  const rows = failures.map(
    ({ url, code, reason, certificate = '' }) =>
      `<tr data-status="${escapedHtml(code)}"><td>${linkedUrl(url)}<td>${escapedHtml(code)}<td>${escapedHtml(reason)}<td>${escapedHtml(certificate)}`,
  );
  const table = `<table><thead><tr><th>Target<th>Code<th>Reason<th>Certificate\n<tbody>\n${rows.join('\n')}\n</table>`;
  return pageHtml(`Not captured, page ${number}`, 'Not captured', navigation, table, true);
}

/** `content`: HTML. `hasFilter`: whether its items can be filtered. */
function pageHtml(title: string, heading: string, navigation: string, content: string, hasFilter: boolean): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="script-src ${hasFilter ? FILTER_SOURCE : "'none'"}; object-src 'none'; base-uri 'none'; form-action 'none'">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<link rel="stylesheet" href="style.css">
<h1>${heading}</h1>
${navigation}${hasFilter ? `\n${FILTER}` : ''}
${content}
${navigation}${hasFilter ? `\n${FILTER_SCRIPT}` : ''}
</html>
`;
}

export const STYLE = `:root { color-scheme: light dark; font: 16px/1.4 system-ui, sans-serif; }
body { margin: 1rem; }
ul { display: grid; grid-template-columns: repeat(auto-fill, minmax(18rem, 1fr)); gap: 1rem; padding: 0; list-style: none; }
li { border: 1px solid #8888; border-radius: 6px; overflow: hidden; content-visibility: auto; contain-intrinsic-size: auto 22rem; }
img, .none { display: block; width: 100%; aspect-ratio: 16 / 10; object-fit: cover; object-position: top; }
.none { display: grid; place-content: center; background: #8882; }
p { margin: 0.25rem 0.5rem; overflow-wrap: anywhere; }
.badge { display: inline-block; padding: 0 0.4rem; border: 1px solid #8888; border-radius: 4px; font-size: 0.8rem; }
nav { display: flex; gap: 1rem; }
summary { padding: 0.25rem 0.5rem; cursor: pointer; }
li:has(> details[open]) { grid-column: 1 / -1; }
li:has(> details[open]) > img { max-width: 30rem; }
table { border-collapse: collapse; }
td, th { padding: 0.1rem 0.5rem; text-align: left; overflow-wrap: anywhere; }
th, td:nth-child(2) { white-space: nowrap; }
@media (width >= 48rem) { td:first-child { min-width: 18rem; } }
@media (width < 48rem) { thead { display: none; } td { display: block; } tr { display: block; padding: 0.5rem 0; border-bottom: 1px solid #8888; } }
`;

function cardHtml({ result, thumbnail, facts = [], alike = [] }: Card): string {
  const { title, url, probed_at, response_code, failed_reason } = result;
  const outcome = outcomeOf(result);
  const image =
    thumbnail === undefined
      ? `<div class="none">${outcome === 'stored' ? 'no image' : escapedHtml(outcome)}</div>`
      : `<img src="${escapedHtml(thumbnail)}" alt="" loading="lazy">`;
  const status = outcome === 'stored' ? String(response_code) : escapedHtml(failed_reason);
  const badges = optionLabels(result).map((label) => ` <span class="badge">${escapedHtml(label)}</span>`);
  return `<li id="c${result.id}" data-status="${outcome === 'stored' ? response_code : escapedHtml(outcome)}">${image}
<p><b>${escapedHtml(title === '' ? '(no title)' : title)}</b></p>
<p>${linkedUrl(url)}</p>
<p><time datetime="${escapedHtml(probed_at)}">${escapedHtml(probed_at)}</time> ${status}${badges.join('')}</p>${facts.map((fact) => `\n<p>${escapedHtml(fact)}</p>`).join('')}${alikeHtml(alike)}</li>`;
}

function alikeHtml(alike: readonly Card[]): string {
  if (alike.length === 0) return '';
  return `\n<details><summary>and ${alike.length} alike</summary><ul>\n${alike.map(cardHtml).join('\n')}\n</ul></details>`;
}
