import { createHash } from 'node:crypto';
import { escapedHtml } from '../../capture/basics/html-text.ts';
import { NEVER_MS } from '../../storage/ports/shared-link-store.ts';

/*
 * The page behind a shared link. Everything in it is untrusted text of a captured page: it is escaped, and the policy
 * of the page lets nothing run, and loads nothing but the images of the link.
 */

const STYLE = `:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { margin: 0 auto; padding: 1rem; max-width: 76rem; overflow-wrap: anywhere; }
h1 { font-size: 1.4rem; line-height: 1.25; margin: 0 0 1rem; }
h2 { font-size: 1.1rem; margin: 2rem 0 0.5rem; }
img { display: block; max-width: 100%; height: auto; border: 1px solid #8888; border-radius: 6px; }
dl { display: grid; grid-template-columns: minmax(7rem, max-content) 1fr; gap: 0.25rem 1rem; margin: 0 0 1rem; }
dt { color: color-mix(in srgb, currentColor 70%, transparent); }
dd { margin: 0; }
summary { cursor: pointer; padding: 0.5rem 0; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.85rem; }
th, td { text-align: left; vertical-align: top; padding: 0.25rem 0.75rem 0.25rem 0; border-bottom: 1px solid #8884; min-width: 4rem; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr)); gap: 1rem; }
footer { margin-top: 2rem; font-size: 0.85rem; }
`;

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** The page has an origin of its own, so that not even a flaw in it could reach the session of a user. */
export const PAGE_POLICY = [
  'sandbox',
  "default-src 'none'",
  "img-src 'self'",
  `style-src 'sha256-${STYLE_HASH}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** A value in a page: text, which is escaped, or HTML. */
export type Cell = string | { readonly html: string };

export function htmlOf(cell: Cell): string {
  return typeof cell === 'string' ? escapedHtml(cell) : cell.html;
}

/** `body`: HTML. */
export function sharedPage(title: string, body: string, expiresAt: number): string {
  const ends =
    expiresAt === NEVER_MS
      ? 'It is shown as long as its feed'
      : `This link ends ${timeOf(new Date(expiresAt).toISOString())}`;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<title>${escapedHtml(title)}</title>
<style>${STYLE}</style>
<main>
<h1>${escapedHtml(title)}</h1>
${body}
</main>
<footer>Captured with Capstan. ${ends}.</footer>
</html>
`;
}

export function timeOf(iso: string): string {
  return `<time datetime="${escapedHtml(iso)}">${escapedHtml(iso.replace('T', ' ').replace(/\.\d+Z$/, ' UTC'))}</time>`;
}

/** A list of names and values; those without a value are left out. */
export function facts(rows: readonly (readonly [string, Cell | undefined])[]): string {
  const shown = rows.flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [`<dt>${escapedHtml(name)}</dt><dd>${htmlOf(value)}</dd>`],
  );
  return `<dl>${shown.join('\n')}</dl>`;
}

/** A table behind its heading; nothing without rows. */
export function table(
  heading: string,
  columns: readonly string[],
  rows: readonly (readonly Cell[])[],
  omitted = 0,
): string {
  if (rows.length === 0) return '';
  const head = columns.map((column) => `<th scope="col">${escapedHtml(column)}</th>`).join('');
  const lines = rows.map((row) => `<tr>${row.map((cell) => `<td>${htmlOf(cell)}</td>`).join('')}</tr>`).join('\n');
  const more = omitted > 0 ? `<p>${omitted} more are left out.</p>` : '';
  return `<details><summary>${escapedHtml(heading)} (${rows.length + omitted})</summary><div class="wide">
<table><thead><tr>${head}</tr></thead><tbody>${lines}</tbody></table></div>${more}</details>`;
}

export function image(path: string, alt: string): string {
  return `<img src="${escapedHtml(path)}" alt="${escapedHtml(alt)}">`;
}
