import type { FeedSource } from '../../capture/finding/feed.ts';
import type { Result } from '../../capture/result/result.ts';
import type { ServiceView } from '../../service/capture-service.ts';
import { endsList, keysetOf } from '../../storage/ports/result-store.ts';
import { keysetCursor, readKeysetCursor } from '../request/cursor.ts';
import { filterOf } from '../request/new-feed.ts';
import { titleOf } from '../shared/shared-capture-page.ts';
import { type FeedEntry, MAX_ENTRIES } from './feed.ts';
import { entriesOfNews } from './news-entries.ts';

export interface Entries {
  readonly title: string;
  /** Path of the view of the web interface. */
  readonly view: string;
  readonly entries: readonly FeedEntry[];
  readonly isCut: boolean;
}

/**
 * Returns a page of the entries of a feed, newest first; undefined when its watch is gone, or not one that the key may
 * see. `ofKey`: the key whose watches it may show; undefined: those of all.
 */
export async function entriesOf(
  source: FeedSource,
  { watches, results }: Pick<ServiceView, 'watches' | 'results'>,
  ofKey: string | undefined,
  cursor: string | undefined,
): Promise<Entries | undefined> {
  if (source.watch !== undefined) {
    const watch = await watches.get(source.watch, ofKey);
    if (watch === undefined) return undefined;
    const all = entriesOfNews(await watches.news(watch));
    const from = cursor === undefined ? 0 : all.findIndex(({ place }) => place < cursor);
    const entries = from === -1 ? [] : all.slice(from, from + MAX_ENTRIES);
    const isCut = from + entries.length < all.length && entries.length > 0;
    return { title: `Changes of ${watch.url}`, view: '/watches', entries, isCut };
  }
  const after = cursor === undefined ? undefined : readKeysetCursor(cursor);
  const found = await results.page(filterOf(source), MAX_ENTRIES + 1, after);
  const entries = found.slice(0, MAX_ENTRIES).map(entryOfResult);
  return { ...aboutSource(source), entries, isCut: !endsList(found, MAX_ENTRIES + 1) };
}

function aboutSource({ label, scan, search = {} }: FeedSource): Pick<Entries, 'title' | 'view'> {
  const conditions = { ...search, ...(label !== undefined && { label }), ...(scan !== undefined && { scan }) };
  const view = `/?${new URLSearchParams(conditions)}`;
  if (label !== undefined) return { title: `Captures with the label ${label}`, view };
  if (scan !== undefined) return { title: `Captures of the scan ${scan}`, view };
  const said = Object.entries(search).map(([name, value]) => `${name}=${value}`);
  return { title: `Captures with ${said.join(', ')}`, view };
}

function entryOfResult(result: Result): FeedEntry {
  const {
    id,
    url,
    final_url: final,
    probed_at: at,
    failed,
    failed_reason: reason,
    verdict,
    labels,
    artifacts,
  } = result;
  const lines = [
    url,
    ...(final === url ? [] : [`Final URL: ${final}`]),
    ...(failed ? [`Failed: ${reason}`] : []),
    ...(result.response_code === 0 ? [] : [`HTTP status: ${result.response_code} ${result.response_reason}`.trim()]),
    ...(verdict === null || verdict === 'content' ? [] : [`Verdict: ${verdict}`]),
  ];
  return {
    id: `urn:capstan:capture:${id}`,
    at,
    title: failed ? `Failed: ${url}` : titleOf(result),
    lines,
    url,
    labels,
    capture: artifacts === null ? null : id,
    before: null,
    place: keysetCursor(keysetOf(result)),
  };
}
