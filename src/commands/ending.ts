import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../log/log.ts';
import type { CaptureService } from '../service/create-service.ts';
import { whenOutputEnds } from './closed-output.ts';

/** A service, or a worker of a cluster. */
type Stoppable = Pick<CaptureService, 'kill' | 'stop'>;

/** A second SIGINT within this time is ignored: Ctrl-C reaches the process from the terminal and again from npm. */
const ECHO_MS = 250;
/** Time limit for removing the profile directories of killed browsers on a forced exit, in milliseconds. */
const HARD_END_MS = 500;

/** 128 and the number of the signal; a closed pipe ends other programs by SIGPIPE. */
const EXIT_CODES: Readonly<Record<string, number>> = { SIGINT: 130, SIGTERM: 143, SIGPIPE: 141 };

/** Returns the exit code of a command that a signal, or the end of its output, has stopped. */
export function codeOfEnd({ reason }: Pick<AbortSignal, 'reason'>): number {
  return EXIT_CODES[String(reason)] ?? 1;
}

export interface Ending {
  /** Aborted by the first SIGTERM or SIGINT, or when standard output ends. The reason is the signal's name. */
  readonly signal: AbortSignal;
  /** Adds a service. A forced exit kills its browsers. */
  watchOver(service: Stoppable): void;
}

/**
 * Handles signals and uncaught errors. The first signal requests a stop; a second signal or an uncaught error kills the
 * browsers and exits with code 1.
 */
export function watchForEnd(logger: Logger): Ending {
  const asked = new AbortController();
  const services: Stoppable[] = [];

  let askedAt = 0;

  const onSignal = (name: NodeJS.Signals): void => {
    if (asked.signal.aborted) {
      if (name === 'SIGINT' && performance.now() - askedAt < ECHO_MS) return;
      logger.warn({ signal: name }, 'second signal: exiting now');
      void endHard(services);
    } else {
      logger.info({ signal: name }, 'stopping');
      askedAt = performance.now();
      asked.abort(name);
    }
  };
  const onCrash = (error: unknown): void => {
    logger.fatal({ err: error }, 'uncaught error: exiting');
    void endHard(services);
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  whenOutputEnds((end) => asked.abort(end));
  process.on('uncaughtException', onCrash);
  process.on('unhandledRejection', onCrash);

  return { signal: asked.signal, watchOver: (service) => void services.push(service) };
}

async function endHard(services: readonly Stoppable[]): Promise<never> {
  for (const service of services) service.kill();
  const stopped = Promise.allSettled(services.map((service) => service.stop(0)));
  await Promise.race([stopped, delay(HARD_END_MS)]);
  process.exit(1);
}
