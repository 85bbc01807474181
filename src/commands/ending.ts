import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../log.ts';
import type { CaptureService } from '../service/create-service.ts';

/**
 * A SIGINT within this time of the first is the same wish: a Ctrl-C reaches us from the terminal, and once more from
 * npm, which hands it on to the script that it runs.
 */
const ECHO_MS = 250;
/** How long a hard end waits for the profile directories of killed browsers to be removed. */
const HARD_END_MS = 500;

export interface Ending {
  /** Aborted by the first SIGTERM or SIGINT, whose name is the reason. */
  readonly signal: AbortSignal;
  /** Names the service whose browsers a hard end kills. */
  watchOver(service: CaptureService): void;
}

/**
 * Watches for what ends this process. The first signal asks for it; a second one, or an error that nobody caught, kills
 * the browsers and exits with code 1 at once.
 */
export function watchForEnd(logger: Logger): Ending {
  const asked = new AbortController();
  const services: CaptureService[] = [];

  let askedAt = 0;

  const onSignal = (name: NodeJS.Signals): void => {
    if (asked.signal.aborted) {
      if (name === 'SIGINT' && performance.now() - askedAt < ECHO_MS) return;
      logger.warn({ signal: name }, 'second signal: ending at once');
      void endHard(services);
    } else {
      logger.info({ signal: name }, 'stopping');
      askedAt = performance.now();
      asked.abort(name);
    }
  };
  const onCrash = (error: unknown): void => {
    logger.fatal({ err: error }, 'an error that nobody caught: ending');
    void endHard(services);
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  process.on('uncaughtException', onCrash);
  process.on('unhandledRejection', onCrash);

  return { signal: asked.signal, watchOver: (service) => void services.push(service) };
}

async function endHard(services: readonly CaptureService[]): Promise<never> {
  for (const service of services) service.kill();
  const stopped = Promise.allSettled(services.map((service) => service.stop(0)));
  await Promise.race([stopped, delay(HARD_END_MS)]);
  process.exit(1);
}
