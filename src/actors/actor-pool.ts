import { createPool } from 'generic-pool';
import { merge } from 'rxjs';
import { Deadline } from '../capture/deadline.ts';
import { CapstanError } from '../capture/errors.ts';
import { LIMIT_BOUNDS } from '../capture/operation/limits.ts';
import type { BrowsersConfig } from '../config/slices.ts';
import type { Egress } from '../egress/egress.ts';
import { PageCrashedError } from '../page/frames/main-frame.ts';
import type { Actors } from './actors.ts';
import { BrowserActor } from './browser-actor.ts';
import { BrowserPool } from './browser-pool.ts';
import { MEMORY_BOUNDS, type MemoryBounds } from './checks/memory-watch.ts';
import { missingScripts } from './checks/missing-scripts.ts';
import { Launcher } from './launching/launcher.ts';
import { sweepProfiles } from './launching/profiles.ts';
import { SharedPages } from './shared-pages.ts';

export interface ActorPoolParts {
  readonly egress: Egress;
  readonly warn: (text: string) => void;
  /** Memory limits of the browser's processes. @default MEMORY_BOUNDS */
  readonly memory?: MemoryBounds;
  /**
   * Time without an interactive capture after which the browser for such captures is closed, in milliseconds.
   * @default 60,000
   */
  readonly idleMs?: number;
}

/** Below this number of slots, a second browser process costs throughput. */
const SLOTS_FOR_TWO_BROWSERS = 16;
/**
 * Time without a capture after which an actor closes its port, and the interactive browser is closed to free its
 * memory, in milliseconds. Launching the next browser takes about 100 ms.
 */
const IDLE_MS = 60_000;

/** Creates the browser actors, which capture with Chromium, and the browsers that they share. */
export function createActorPool(
  config: BrowsersConfig,
  { egress, warn, memory = MEMORY_BOUNDS, idleMs = IDLE_MS }: ActorPoolParts,
): Actors {
  const { indexWords, retireAfter } = config;
  let slots = config.maxConcurrent;
  const common = { launcher: new Launcher(config, warn), retireAfter, memory, warn };
  const plain = new BrowserPool({ ...common, browsers: browsersFor(slots) });
  const interactive = new BrowserPool({ ...common, browsers: 1, idleMs });
  const browsers = { plain, interactive };
  const sharedPages = new SharedPages(slots);
  const closing = new AbortController();

  const pool = createPool<BrowserActor>(
    {
      create: async () => new BrowserActor({ egress, browsers, sharedPages, indexWords }),
      destroy: (actor) => actor.close(),
    },
    {
      // Never reached, because captures have a slot (`capture-queue.ts`) first: none waits here, where it could not be
      // cancelled. It cannot change as `slots` does, so it is the highest value.
      max: LIMIT_BOUNDS.maxConcurrent.max,
      // The actors used last are lent first, so that the others become idle.
      fifo: false,
      idleTimeoutMillis: IDLE_MS,
      evictionRunIntervalMillis: IDLE_MS,
      // Every idle actor: it looks at 3 by default.
      numTestsPerEvictionRun: LIMIT_BOUNDS.maxConcurrent.max,
    },
  );

  const giveBack = async (actor: BrowserActor): Promise<void> => {
    await actor.free();
    await (pool.borrowed + pool.available > slots ? pool.destroy(actor) : pool.release(actor));
  };

  const capture: Actors['capture'] = async (request, signal, context = {}) => {
    const { batch = null, dialled, earlierMs, onPhase, onReturned } = context;
    const deadline = new Deadline(request.timeoutMs, AbortSignal.any([signal, closing.signal]), onPhase, earlierMs);
    onPhase?.('open');
    const borrowing = pool.acquire();
    try {
      return await (await deadline.step('borrow an actor', borrowing)).capture(request, { batch, dialled }, deadline);
    } catch (error) {
      throw error instanceof PageCrashedError
        ? new CapstanError('page_crashed', undefined, { cause: error })
        : CapstanError.from(error);
    } finally {
      deadline.dispose();
      void borrowing.then(giveBack, () => undefined).then(onReturned);
    }
  };

  return {
    capture,
    events$: merge(plain.events$, interactive.events$),
    start: async () => {
      await sweepProfiles();
      await plain.warmUp();
    },
    get unavailable() {
      return plain.unavailable;
    },
    stats: () => ({
      busy: pool.borrowed,
      idle: pool.available,
      browsers: [...plain.browsers(), ...interactive.browsers()],
      launches: plain.counts.launches + interactive.counts.launches,
      crashes: plain.counts.crashes + interactive.counts.crashes,
    }),
    missingScripts: async () => missingScripts(await plain.host()),
    setSlots: (wanted) => {
      // Idle actors above this number are closed when their time is over: `clear` is only for a pool that has drained.
      slots = wanted;
      sharedPages.setLimit(wanted);
      plain.setBrowsers(browsersFor(wanted));
    },
    kill: () => {
      closing.abort();
      plain.kill();
      interactive.kill();
    },
    close: async () => {
      closing.abort();
      await Promise.all([plain.close(), interactive.close()]);
      await pool.drain();
      await pool.clear();
      await sharedPages.close();
    },
  };
}

function browsersFor(slots: number): number {
  return slots < SLOTS_FOR_TWO_BROWSERS ? 1 : 2;
}
