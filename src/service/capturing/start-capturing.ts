import { EMPTY } from 'rxjs';
import { createActorPool } from '../../actors/actor-pool.ts';
import type { Actors } from '../../actors/actors.ts';
import { CapstanError } from '../../capture/errors.ts';
import type { BrowsersConfig, CapturingConfig } from '../../config/slices.ts';
import { createTargetPolicy, type LiveTargetPolicy } from '../../egress/address-policy.ts';
import { createAliasLookup } from '../../egress/aliases.ts';
import { createEgress } from '../../egress/create-egress.ts';
import type { Egress } from '../../egress/egress.ts';
import type { NotReady } from '../capture-service.ts';
import type { OpenedParts } from '../opened-parts.ts';
import { warnOfMissingFonts } from './font-warning.ts';
import { createIpFacts } from './ip-facts.ts';
import { openTechnologies } from './open-technologies.ts';
import type { CaptureParts } from './perform-capture.ts';

/** The browser actors of this process, and the start of its first browser. */
interface Browsers {
  readonly actors: Actors;
  /** The reason why no browser can capture; null while one can. */
  readonly unavailable: NotReady | null;
  /** Resolves when the first browser has started or has failed to. */
  readonly started: Promise<void>;
}

/** The parts that perform a capture: egress, browsers, IP lookups, the store. */
export interface Capturing extends CaptureParts, Browsers {
  readonly egress: Egress;
  readonly targets: LiveTargetPolicy;
  readonly actors: Browsers['actors'];
}

/**
 * Starts these parts, for a service or a worker of a cluster. An api node has no browsers: its egress only screens
 * requests.
 */
export async function startCapturing(
  config: CapturingConfig,
  { lookup, events, storage, logger }: Pick<OpenedParts, 'lookup' | 'events' | 'storage' | 'logger'>,
): Promise<Capturing> {
  const onMissing = (error: unknown) => logger.warn({ err: error }, 'an address could not be looked up');
  const ipFacts = await createIpFacts(config, onMissing);
  const targets = createTargetPolicy({ allow: config.allowTargets, deny: config.denyTargets });
  const egress = createEgress({
    lookup,
    aliases: createAliasLookup({ servers: config.nameServers }),
    policy: targets,
    warn: (text) => logger.warn(text),
  });
  const browsers = config.role === 'api' ? noBrowsers() : startBrowsers(config, { egress, events, logger });
  return {
    egress,
    targets,
    ipFacts,
    technologies: await openTechnologies(config, logger),
    captureStore: storage.captureStore,
    logger,
    actors: browsers.actors,
    started: browsers.started,
    get unavailable() {
      return browsers.unavailable;
    },
  };
}

const STARTING = {
  ready: false,
  code: 'browser_unavailable',
  reason: 'the first browser is being started',
} as const;

function startBrowsers(
  config: BrowsersConfig,
  { egress, events, logger }: Pick<OpenedParts, 'events' | 'logger'> & { readonly egress: Egress },
): Browsers {
  const actors = createActorPool(config, { egress, warn: (text) => logger.warn(text) });
  actors.events$.subscribe((event) => events.emit(event));
  let isStarted = false;
  // Not awaited: a browser that hangs while it starts must not delay listening or stopping.
  const started = actors.start().then(
    () => {
      const { unavailable } = actors;
      if (unavailable !== null) logger.error({ cause: unavailable.detail }, 'no browser could be started');
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
    get unavailable(): NotReady | null {
      if (!isStarted) return STARTING;
      const { unavailable } = actors;
      return unavailable && { ready: false, code: 'browser_unavailable', reason: unavailable.reason };
    },
  };
}

/** Stands in for the browsers in an api node of a cluster, whose captures run on workers. */
function noBrowsers(): Browsers {
  const actors: Actors = {
    capture: () => Promise.reject(new CapstanError('browser_unavailable')),
    unavailable: null,
    events$: EMPTY,
    start: () => Promise.resolve(),
    missingScripts: () => Promise.resolve([]),
    stats: () => ({ busy: 0, idle: 0, browsers: [], launches: 0, crashes: 0 }),
    setSlots: () => {},
    kill: () => {},
    close: () => Promise.resolve(),
  };
  return { actors, unavailable: null, started: Promise.resolve() };
}
