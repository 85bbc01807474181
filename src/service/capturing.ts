import { createTargetPolicy, type LiveTargetPolicy } from '../egress/address-policy.ts';
import { createAliasLookup } from '../egress/aliases.ts';
import { createEgress } from '../egress/create-egress.ts';
import type { Lookup } from '../egress/dns-lookup.ts';
import type { Egress } from '../egress/egress.ts';
import type { Logger } from '../log/log.ts';
import type { Storage } from '../storage/storage.ts';
import type { EventStream } from '../streams/events.ts';
import { type Browsers, noBrowsers, startBrowsers } from './browsers.ts';
import { createIpFacts } from './ip-facts.ts';
import { openTechnologies } from './open-technologies.ts';
import type { CaptureParts } from './perform-capture.ts';
import type { CapturingConfig } from './service-config.ts';

/** The parts that perform a capture: egress, browsers, IP lookups, the store. */
export interface Capturing extends CaptureParts, Browsers {
  readonly egress: Egress;
  readonly targets: LiveTargetPolicy;
  readonly actors: Browsers['actors'];
}

export interface CapturingContext {
  readonly lookup: Lookup;
  readonly events: EventStream;
  readonly storage: Pick<Storage, 'captureStore'>;
  readonly logger: Logger;
}

/**
 * Starts these parts, for a service or a worker of a cluster. An api node has no browsers: its egress only screens
 * requests.
 */
export async function startCapturing(
  config: CapturingConfig,
  { lookup, events, storage, logger }: CapturingContext,
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
    get availability() {
      return browsers.availability;
    },
  };
}
