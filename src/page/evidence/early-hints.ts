import type { Protocol } from 'devtools-protocol';
import type { PageSession } from '../frames/page-session.ts';
import { headerOf } from './header-of.ts';

/** Maximum number of hints that are noted in a capture: a server may send any number. */
const MAX_HINTS = 50;
/** Maximum length of the URL that relative hints are resolved against. Hints of a longer one are left out. */
export const MAX_BASE_CHARACTERS = 8_192;
/** A link of an early hint (103): its target and its parameters. Longer targets are left out. */
const LINK = /<([^<>]{0,2048})>([^<]{0,512})/g;
/** Takes time linear in the length of the parameters. */
const RELATIONS = /;\s*rel\s*=\s*(?:"([^"]*)|([^\s;,"]+))/i;
const IS_PRELOAD = /^(?:module)?preload$/i;

/** Notes URLs that the browser may preload because of early hints, which it does not report as requests. */
export class EarlyHints {
  readonly #noted = new Set<string>();

  /**
   * Calls `note` with each URL that a session's hints name, and the id of the document's request. `urlOf` returns the
   * URL of a request. Needs `Network.enable`.
   */
  follow(
    session: PageSession,
    urlOf: (requestId: string) => string | undefined,
    note: (url: string, requestId: string) => void,
  ): void {
    session.on('Network.responseReceivedEarlyHints', ({ requestId, headers }) => {
      const base = urlOf(requestId);
      if (base === undefined || base.length > MAX_BASE_CHARACTERS || this.#noted.size >= MAX_HINTS) return;
      for (const url of preloadsIn(headers, base)) {
        const hint = `${requestId} ${url}`;
        if (this.#noted.has(hint)) continue;
        this.#noted.add(hint);
        note(url, requestId);
        if (this.#noted.size >= MAX_HINTS) return;
      }
    });
  }
}

/** Returns the URLs that the header `link` names for preloading, one by one. */
export function* preloadsIn(headers: Protocol.Network.Headers, base: string): Generator<string> {
  const links = headerOf(headers, 'link') ?? '';
  for (const [, target = '', parameters = ''] of links.matchAll(LINK)) {
    const [, quoted, word = ''] = RELATIONS.exec(parameters) ?? [];
    const isPreload = (quoted ?? word).split(/\s/).some((relation) => IS_PRELOAD.test(relation));
    const url = isPreload ? URL.parse(target, base) : null;
    if (url !== null) yield url.href;
  }
}
