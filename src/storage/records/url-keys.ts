import { createHash } from 'node:crypto';
import type { Result } from '../../capture/result/result.ts';

/** The keys of a record's URLs: of the one that was fetched and, where it differs, the final one. */
export function urlKeysOf({ url, final_url }: Pick<Result, 'url' | 'final_url'>): readonly Uint8Array[] {
  const urls = final_url === '' ? [url] : [url, final_url];
  return keysOf(
    urls.map(normalised).flatMap((each) => {
      const page = withoutFragment(each);
      return page === each ? [each] : [each, anyFragment(page)];
    }),
  );
}

/**
 * Returns the keys by which a URL is looked up. Without a fragment, it also finds the records with any; with one, those
 * without any.
 */
export function wantedUrlKeys(filter: {
  readonly url: string;
  readonly orUrl?: string | undefined;
}): readonly Uint8Array[] {
  const urls = filter.orUrl === undefined ? [filter.url] : [filter.url, filter.orUrl];
  return keysOf(
    urls.map(normalised).flatMap((each) => {
      const page = withoutFragment(each);
      return page === each ? [each, anyFragment(each)] : [each, page];
    }),
  );
}

/** Returns SHA-256 of the UTF-16 texts, so that 8,192 characters cost 32 bytes. */
function keysOf(texts: readonly string[]): readonly Uint8Array[] {
  return [...new Set(texts)].map((text) => createHash('sha256').update(text, 'utf16le').digest());
}

const withoutFragment = (url: string): string => url.replace(/#.*$/s, '');
/** Stands for a page's URLs with a fragment. No normalised URL has an empty one. */
const anyFragment = (page: string): string => `${page}#`;

const UNRESERVED = /[\w.~-]/;
/**
 * Characters that stand nowhere in a path, query or fragment by RFC 3986. Browsers encode some of them, and not
 * everywhere.
 */
const ENCODED = /["<>[\\\]^`{|}]/g;

/** Returns one spelling for the URLs that RFC 3986 holds to be equivalent by their characters (6.2.2). */
function normalised(url: string): string {
  const href = URL.parse(url)?.href;
  if (href === undefined) return url;
  const [authority = ''] = /^[^:]+:\/\/[^/?#]*/.exec(href) ?? [];
  const rest = href
    .slice(authority.length)
    .replace(/#$/, '')
    .replace(ENCODED, percentEncoded)
    .replace(/%[0-9a-f]{2}/gi, (encoded) => {
      const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16));
      return UNRESERVED.test(character) ? character : encoded.toUpperCase();
    });
  return authority + rest;
}

function percentEncoded(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}
