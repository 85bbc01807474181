import type { Protocol } from 'devtools-protocol';
import type { PageSession } from '../page-session.ts';

/** Maximum number of hints that are noted in a session: a server may send any number. */
const MAX_HINTS = 500;
/** A link of an early hint (103): its target and its parameters. Longer targets are left out. */
const LINK = /<([^<>]{0,2048})>([^<]*)/g;
const IS_PRELOAD = /;\s*rel\s*=\s*"?[^";]*\b(?:module)?preload\b/i;

/**
 * Calls `note` with each URL that the browser may preload because of an early hint, which it does not report as a
 * request, and the id of the document's request. `urlOf` returns the URL of a request. Needs `Network.enable`.
 */
export function eachPreload(
  session: PageSession,
  urlOf: (requestId: string) => string | undefined,
  note: (url: string, requestId: string) => void,
): void {
  const hinted = new Set<string>();
  session.on('Network.responseReceivedEarlyHints', ({ requestId, headers }) => {
    const base = urlOf(requestId);
    if (base === undefined) return;
    for (const url of preloadsIn(headers, base)) {
      const hint = `${requestId} ${url}`;
      if (hinted.size >= MAX_HINTS || hinted.has(hint)) continue;
      hinted.add(hint);
      note(url, requestId);
    }
  });
}

function preloadsIn(headers: Protocol.Network.Headers, base: string): readonly string[] {
  const [, links = ''] = Object.entries(headers).find(([name]) => name.toLowerCase() === 'link') ?? [];
  return [...links.matchAll(LINK)].flatMap(([, target = '', parameters = '']) =>
    IS_PRELOAD.test(parameters) ? (URL.parse(target, base)?.href ?? []) : [],
  );
}
