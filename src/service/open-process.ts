import type { Config } from '../config/mod.ts';
import { createDnsLookup } from '../egress/dns-lookup.ts';
import type { Logger } from '../log/log.ts';
import { tallyEvents } from '../metrics/tallies.ts';
import { createEventStream } from '../streams/events.ts';
import { logEvent } from './operation/log-event.ts';

/** Opens what every process has, whether it answers clients or captures for a cluster: events, counted and logged. */
export function openProcess({ nameServers }: Pick<Config, 'nameServers'>, logger: Logger) {
  const events = createEventStream();
  const tallies = tallyEvents(events.events$);
  events.events$.subscribe((event) => logEvent(logger, event));
  return {
    logger,
    events,
    tallies,
    lookup: createDnsLookup({ servers: nameServers }),
    stopping: new AbortController(),
  };
}
