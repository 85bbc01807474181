import { firstValueFrom } from 'rxjs';
import { CapstanError } from '../capture/errors.ts';
import type { NamedKey } from '../capture/named-key.ts';
import type { Egress } from '../egress/egress.ts';
import type { Comparisons } from '../imaging/comparisons.ts';
import type { Logger } from '../log/log.ts';
import type { Storage } from '../storage/storage.ts';
import type { CapturePipeline, Submit } from '../streams/capture-pipeline.ts';
import type { EventStream } from '../streams/events.ts';
import { createWatches } from '../watches/watches.ts';
import type { Receivers } from './open-receivers.ts';

interface WatchesContext {
  readonly pipeline: Pick<CapturePipeline, 'limits'>;
  readonly egress: Pick<Egress, 'screenLiteral'>;
  readonly storage: Pick<Storage, 'watches' | 'results' | 'artifacts' | 'ids'>;
  readonly events: EventStream;
  readonly logger: Logger;
  readonly comparisons: Comparisons;
  readonly submit: Submit;
  /** Removes captures, unless another data directory holds their files. */
  readonly remove: (captures: readonly number[]) => Promise<void>;
  readonly kept: Receivers['kept'];
  /** Returns the named keys as they are now. */
  readonly namedKeys: () => readonly NamedKey[];
}

/** Starts the watches, whose runs are captures of this service. */
export function startWatches(context: WatchesContext) {
  const { pipeline, egress, storage, events, logger, comparisons, submit, remove, kept, namedKeys } = context;
  return createWatches({
    store: storage.watches,
    enabled: storage.results.kind !== 'none',
    screen: ({ target }) => {
      const refusal = egress.screenLiteral(target.parsed);
      if (refusal !== null) throw new CapstanError(refusal.code, refusal.reason);
    },
    // Without named keys (`capstan mcp`), every watch is served.
    serves: ({ apiKeyName }) =>
      apiKeyName === null ||
      namedKeys().length === 0 ||
      namedKeys().some(({ name, scope }) => name === apiKeyName && scope !== 'read'),
    capture: (request, by) => firstValueFrom(submit(request, by)),
    remove,
    announce: (event, to) => (event.type === 'watch.run' ? events.emit(event) : events.conclude(event, to)),
    kept,
    artifacts: storage.artifacts,
    comparisons,
    atOnce: () => pipeline.limits.maxConcurrent,
    ids: () => storage.ids.next(),
    clock: Date.now,
    report: (error) => logger.error({ err: error }, 'a watch failed'),
  });
}
