import { LRUCache } from 'lru-cache';
import type { Observable } from 'rxjs';
import type { CapstanEvent } from '../../capture/events.ts';
import type { LabelStore } from '../../storage/ports/label-store.ts';
import type { ResultStore } from '../../storage/ports/result-store.ts';

/** Labels that this process has noted, so that the thousandth capture of a scan costs nothing. */
const MAX_NOTED = 10_000;
const NOTED_MS = 600_000;

/** Finds labels to suggest. `ofKey`: the API key whose labels alone are found. */
export type SuggestLabels = (text: string, limit: number, ofKey?: string) => Promise<readonly string[]>;

/** Notes the labels of captures from now on, and suggests those that captures still have. */
export function suggestLabels(
  store: LabelStore,
  results: Pick<ResultStore, 'kind' | 'page'>,
  events$: Observable<CapstanEvent>,
  onProblem: (problem: unknown) => void,
): SuggestLabels {
  const noted = new LRUCache<string, true>({ max: MAX_NOTED, ttl: NOTED_MS });
  events$.subscribe((event) => {
    if (results.kind === 'none' || !event.type.startsWith('capture.') || !('result' in event)) return;
    const { api_key_name: key = null, labels = [] } = event.result ?? {};
    const fresh = labels.filter((label) => !noted.has(`${key}\n${label}`));
    for (const label of fresh) noted.set(`${key}\n${label}`, true);
    if (fresh.length > 0) void store.note(key, fresh).catch(onProblem);
  });
  return async (text, limit, ofKey) => {
    const found = await store.find(text, limit, ofKey);
    const pages = await Promise.all(
      found.map((label) => results.page({ by: 'all', where: { label: [label] }, ofKey }, 1)),
    );
    const gone = found.filter((_, at) => pages[at]?.length === 0);
    await store.forget(gone, ofKey);
    for (const key of gone.length > 0 ? noted.keys() : []) {
      if (gone.includes(key.slice(key.indexOf('\n') + 1))) noted.delete(key);
    }
    return found.filter((label) => !gone.includes(label));
  };
}
