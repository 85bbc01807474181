import { firstValueFrom } from 'rxjs';
import { CapstanError } from '../capture/errors.ts';
import type { Submit } from '../streams/capture-pipeline.ts';
import { createWatches } from '../watches/watches.ts';
import type { Parts } from './parts.ts';

/** Starts the watches, whose runs are captures of this service. */
export function startWatches(
  { pipeline, capturing, storage, events, logger, comparisons, namedKeys, removeHere, receivers }: Parts,
  submit: Submit,
) {
  return createWatches({
    store: storage.watches,
    enabled: storage.results.kind !== 'none',
    screen: ({ target }) => {
      const refusal = capturing.egress.screenLiteral(target.parsed);
      if (refusal !== null) throw new CapstanError(refusal.code, refusal.reason);
    },
    // Without named keys (`capstan mcp`), every watch is served.
    serves: ({ apiKeyName }) =>
      apiKeyName === null ||
      namedKeys().length === 0 ||
      namedKeys().some(({ name, scope }) => name === apiKeyName && scope !== 'read'),
    capture: (request, by) => firstValueFrom(submit(request, by)),
    remove: removeHere,
    announce: (event, to) => (event.type === 'watch.run' ? events.emit(event) : events.conclude(event, to)),
    eventsStored: receivers.eventsStored,
    artifacts: storage.artifacts,
    comparisons,
    atOnce: () => pipeline.limits.maxConcurrent,
    ids: () => storage.ids.next(),
    clock: Date.now,
    report: (error) => logger.error({ err: error }, 'a watch failed'),
  });
}
