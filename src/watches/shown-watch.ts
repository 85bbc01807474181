import type { Watch } from '../capture/work/watch.ts';
import { withoutCredentials } from '../client/service-url.ts';
import type { StoredWatch } from '../storage/ports/watch-store.ts';
import { unpackProgress, unpackSummary } from './stored-form.ts';

/** Returns a watch as clients see it. */
export function watchOf({ id, apiKeyName, dueAt, summary, progress }: StoredWatch): Watch {
  const written = unpackSummary(summary);
  const { url, host, every, ignore, options, rules, callback = null, notify = [], createdAt, isPaused } = written;
  const { latest: _latest, values: _values, lastRun, ...found } = unpackProgress(progress);
  const { compare, values = null, when = null, accept, confirm, keep, labels, schedule = null, timeZone } = rules;
  return {
    id,
    url,
    host,
    ...(apiKeyName !== '' && { api_key_name: apiKeyName }),
    state: isPaused ? 'paused' : 'active',
    every,
    schedule,
    time_zone: schedule === null ? null : (timeZone ?? 'UTC'),
    ...options,
    compare,
    values,
    when,
    ignore,
    accept,
    confirm,
    keep,
    labels,
    notify: [...notify],
    callback: callback === null ? null : withoutCredentials(callback),
    created_at: createdAt,
    next_run_at: dueAt === null ? null : new Date(dueAt).toISOString(),
    ...found,
    last_run: lastRun,
  };
}
