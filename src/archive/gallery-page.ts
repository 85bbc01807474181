import { escapedHtml, linkedUrl } from '../capture/html-text.ts';
import { optionLabels } from '../capture/option-labels.ts';
import { outcomeOf } from '../capture/recorded-outcome.ts';
import type { Result } from '../capture/result.ts';

/*
 * Pages of an exported gallery. Titles and URLs are untrusted: all values are escaped, and the page's Content Security
 * Policy also forbids scripts.
 */

/** A capture on a page. */
export interface Card {
  readonly result: Result;
  /** Path of the thumbnail, relative to the page; undefined when there is none. */
  readonly thumbnail: string | undefined;
}

export interface GalleryPage {
  readonly cards: readonly Card[];
  /** Page number, from 1. */
  readonly number: number;
  readonly hasNext: boolean;
}

/** Name of a page's file. */
export function pageName(number: number): string {
  return number === 1 ? 'index.html' : `page-${number}.html`;
}

export function galleryPage({ cards, number, hasNext }: GalleryPage): string {
  const newer = number > 1 ? `<a rel="prev" href="${pageName(number - 1)}">Newer</a>` : '';
  const older = hasNext ? `<a rel="next" href="${pageName(number + 1)}">Older</a>` : '';
  const navigation = `<nav>${newer} <span>Page ${number}</span> ${older}</nav>`;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="script-src 'none'; object-src 'none'; base-uri 'none'; form-action 'none'">
<meta name="referrer" content="no-referrer">
<title>Captures, page ${number}</title>
<link rel="stylesheet" href="style.css">
<h1>Captures</h1>
${navigation}
<ul>
${cards.map(cardHtml).join('\n')}
</ul>
${navigation}
</html>
`;
}

export const STYLE = `:root { color-scheme: light dark; font: 16px/1.4 system-ui, sans-serif; }
body { margin: 1rem; }
ul { display: grid; grid-template-columns: repeat(auto-fill, minmax(18rem, 1fr)); gap: 1rem; padding: 0; list-style: none; }
li { border: 1px solid #8888; border-radius: 6px; overflow: hidden; }
img, .none { display: block; width: 100%; aspect-ratio: 16 / 10; object-fit: cover; object-position: top; }
.none { display: grid; place-content: center; background: #8882; }
p { margin: 0.25rem 0.5rem; overflow-wrap: anywhere; }
.badge { display: inline-block; padding: 0 0.4rem; border: 1px solid #8888; border-radius: 4px; font-size: 0.8rem; }
nav { display: flex; gap: 1rem; }
`;

function cardHtml({ result, thumbnail }: Card): string {
  const { title, url, probed_at, response_code, failed_reason } = result;
  const outcome = outcomeOf(result);
  const image =
    thumbnail === undefined
      ? `<div class="none">${outcome === 'stored' ? 'no image' : escapedHtml(outcome)}</div>`
      : `<img src="${escapedHtml(thumbnail)}" alt="" loading="lazy">`;
  const status = outcome === 'stored' ? String(response_code) : escapedHtml(failed_reason);
  const badges = optionLabels(result).map((label) => ` <span class="badge">${escapedHtml(label)}</span>`);
  return `<li id="c${result.id}">${image}
<p><b>${escapedHtml(title === '' ? '(no title)' : title)}</b></p>
<p>${linkedUrl(url)}</p>
<p><time datetime="${escapedHtml(probed_at)}">${escapedHtml(probed_at)}</time> ${status}${badges.join('')}</p></li>`;
}
