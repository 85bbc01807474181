import { EMPTY } from 'rxjs';
import { createActorPool } from '../actors/actor-pool.ts';
import type { Actors } from '../actors/actors.ts';
import { CapstanError } from '../capture/errors.ts';
import type { Egress } from '../egress/egress.ts';
import type { Logger } from '../log/log.ts';
import type { EventStream } from '../streams/events.ts';
import type { Availability } from './condition.ts';
import { warnOfMissingFonts } from './font-warning.ts';
import type { BrowsersConfig } from './service-config.ts';

/** The browser actors of this process, and the start of its first browser. */
export interface Browsers {
  readonly actors: Actors;
  readonly availability: Availability;
  /** Resolves when the first browser has started or has failed to. */
  readonly started: Promise<void>;
}

const STARTING = {
  available: false,
  code: 'browser_unavailable',
  reason: 'the first browser is being started',
} as const;

export function startBrowsers(
  config: BrowsersConfig,
  { egress, events, logger }: { readonly egress: Egress; readonly events: EventStream; readonly logger: Logger },
): Browsers {
  const actors = createActorPool({
    egress,
    slots: config.maxConcurrent,
    browserPath: config.browserPath ?? undefined,
    sandbox: config.sandbox,
    priority: config.browserPriority,
    honestUserAgent: config.honestUserAgent,
    retireAfter: config.retireAfter,
    readsWords: config.indexWords,
    warn: (text) => logger.warn(text),
  });
  actors.events$.subscribe((event) => events.emit(event));
  let isStarted = false;
  // Not awaited: a browser that hangs while it starts must not delay listening or stopping.
  const started = actors.start().then(
    () => {
      const { availability } = actors;
      if (!availability.available) logger.error({ cause: availability.detail }, 'no browser could be started');
    },
    (error: unknown) => logger.error({ err: error }, 'the profiles of earlier browsers could not be removed'),
  );
  void started.then(() => {
    isStarted = true;
    void warnOfMissingFonts(actors, logger);
  });
  return {
    actors,
    started,
    get availability(): Availability {
      if (!isStarted) return STARTING;
      const { availability } = actors;
      return availability.available
        ? availability
        : { available: false, code: 'browser_unavailable', reason: availability.reason };
    },
  };
}

/** Stands in for the browsers in an api node of a cluster, whose captures run on workers. */
export function noBrowsers(): Browsers {
  const actors: Actors = {
    capture: () => Promise.reject(new CapstanError('browser_unavailable')),
    availability: { available: true },
    events$: EMPTY,
    start: () => Promise.resolve(),
    missingScripts: () => Promise.resolve([]),
    stats: () => ({ busy: 0, idle: 0, browsers: [], launches: 0, crashes: 0 }),
    setSlots: () => {},
    kill: () => {},
    close: () => Promise.resolve(),
  };
  return { actors, availability: { available: true }, started: Promise.resolve() };
}
