import { recordedOptions } from '../capture/recorded-options.ts';
import type { Watch } from '../capture/watch.ts';
import type { StoredWatch } from '../storage/ports/watch-store.ts';
import { unpackDefinition, unpackProgress } from './stored-form.ts';

/** Returns a watch as clients see it. */
export function watchOf({ id, apiKeyName, dueAt, definition, progress }: StoredWatch): Watch {
  const { request, rules, written, callback = null, createdAt, isPaused } = unpackDefinition(definition);
  const { latest: _latest, lastRun, ...found } = unpackProgress(progress);
  const { url, host } = request.target;
  const { compare, accept, confirm, keep, labels, schedule = null, timeZone } = rules;
  return {
    id,
    url,
    host,
    ...(apiKeyName !== '' && { api_key_name: apiKeyName }),
    state: isPaused ? 'paused' : 'active',
    every: typeof written.every === 'string' ? written.every : null,
    schedule,
    time_zone: schedule === null ? null : (timeZone ?? 'UTC'),
    ...recordedOptions(request),
    compare,
    ignore: ignoredIn(written),
    accept,
    confirm,
    keep,
    labels,
    callback,
    created_at: createdAt,
    next_run_at: dueAt === null ? null : new Date(dueAt).toISOString(),
    ...found,
    last_run: lastRun,
  };
}

function ignoredIn({ ignore = [] }: Readonly<Record<string, unknown>>): string[] {
  return Array.isArray(ignore) ? ignore.map(String) : [];
}
