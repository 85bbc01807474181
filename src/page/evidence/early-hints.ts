import type { Protocol } from 'devtools-protocol';
import type { PageSession } from '../page-session.ts';

/** A link of an early hint (103): its target and its parameters. */
const LINK = /<([^>]*)>([^<]*)/g;
const IS_PRELOAD = /;\s*rel\s*=\s*"?[^";]*\b(?:module)?preload\b/i;

/**
 * Calls `note` with each URL that the browser preloads because of an early hint, which it does not report as a request,
 * and the id of the document's request. `urlOf` returns the URL of a request. Needs `Network.enable`.
 */
export function eachPreload(
  session: PageSession,
  urlOf: (requestId: string) => string | undefined,
  note: (url: string, requestId: string) => void,
): void {
  const hinted = new Set<string>();
  session.on('Network.responseReceivedEarlyHints', ({ requestId, headers }) => {
    const base = urlOf(requestId);
    // As in Chromium, later hints do not count.
    if (base === undefined || hinted.has(requestId)) return;
    hinted.add(requestId);
    for (const url of preloadsIn(headers, base)) note(url, requestId);
  });
}

function preloadsIn(headers: Protocol.Network.Headers, base: string): ReadonlySet<string> {
  const [, links = ''] = Object.entries(headers).find(([name]) => name.toLowerCase() === 'link') ?? [];
  const urls = [...links.matchAll(LINK)].flatMap(([, target = '', parameters = '']) =>
    IS_PRELOAD.test(parameters) ? (URL.parse(target, base)?.href ?? []) : [],
  );
  return new Set(urls);
}
