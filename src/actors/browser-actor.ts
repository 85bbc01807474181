import { merge } from 'rxjs';
import { CapstanError } from '../capture/errors.ts';
import type { CaptureRequest } from '../capture/request.ts';
import { isInteractive } from '../capture/request.ts';
import type { Snapshot } from '../capture/snapshot.ts';
import type { Egress } from '../egress/egress.ts';
import { BrowserPool } from './browser-pool.ts';
import { type BrowserPriority, startCommand } from './browser-priority.ts';
import type { CaptureActor } from './capture-actor.ts';
import { captureAlone, captureShared } from './capture-on.ts';
import { CdpClosedError } from './cdp/connection.ts';
import { Confinement } from './confinement.ts';
import { Deadline } from './deadline.ts';
import { openPage } from './direct/open-page.ts';
import { executableFinder } from './executable.ts';
import { SuspectedError } from './flood-watch.ts';
import { MEMORY_BOUNDS, type MemoryBounds } from './memory-watch.ts';
import { missingScripts } from './missing-scripts.ts';
import { PageCrashedError } from './page/wait/wait-within.ts';
import { openInteractivePage } from './playwright/open-page.ts';
import { sweepProfiles } from './profiles.ts';
import { SlotPool } from './slots.ts';

export interface BrowserActorOptions {
  readonly egress: Egress;
  /** Maximum number of concurrent captures. */
  readonly slots: number;
  readonly browserPath: string | undefined;
  readonly sandbox: 'auto' | 'on' | 'off';
  readonly priority: BrowserPriority;
  readonly retireAfter: number;
  /** Whether pages see the user agent of headless Chromium. */
  readonly honestUserAgent: boolean;
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
/** An idle browser is closed to free its memory; launching the next one takes about 100 ms. */
const IDLE_MS = 60_000;

/** Creates the actor that captures with Chromium. */
export function createBrowserActor(options: BrowserActorOptions): CaptureActor {
  const slots = new SlotPool(options.egress, options.slots);
  const common = {
    findExecutable: executableFinder(options.browserPath),
    confinement: new Confinement(options.sandbox, options.warn),
    startCommand: startCommand(options.priority, options.warn),
    retireAfter: options.retireAfter,
    honestUserAgent: options.honestUserAgent,
    memory: options.memory ?? MEMORY_BOUNDS,
  };
  const browserPool = new BrowserPool({ ...common, browsers: browsersFor(options.slots) });
  // Interactive captures have a browser of their own, because actions and forms load it differently from plain
  // captures.
  const interactive = new BrowserPool({ ...common, browsers: 1, idleMs: options.idleMs ?? IDLE_MS });
  const closing = new AbortController();

  const capture: CaptureActor['capture'] = async (request, signal, onPhase) => {
    const deadline = new Deadline(request.timeoutMs, AbortSignal.any([signal, closing.signal]), onPhase);
    onPhase?.('open');
    try {
      return await once(request, deadline, captureShared).catch((error: unknown) => {
        if (!mayBeInnocent(error)) throw error;
        // So one page cannot make the captures of others fail again and again.
        return once(request, deadline, captureAlone);
      });
    } catch (error) {
      throw asCapstanError(error);
    } finally {
      deadline.dispose();
    }
  };

  const once = async (
    request: CaptureRequest,
    deadline: Deadline,
    captureOn: typeof captureShared,
  ): Promise<Snapshot> => {
    const taking = slots.take();
    const { slot, leave } = await deadline.step('wait for a slot', taking).catch((error: unknown) => {
      taking.then((late) => late.leave()).catch(() => undefined);
      throw error;
    });
    const place = isInteractive(request)
      ? { browserPool: interactive, open: openInteractivePage, slot }
      : { browserPool, open: openPage, slot };
    const { snapshot, disposed } = captureOn(place, request, deadline);
    void disposed.finally(leave);
    return snapshot;
  };

  return {
    capture,
    events$: merge(browserPool.events$, interactive.events$),
    start: async () => {
      await sweepProfiles();
      await browserPool.warmUp();
    },
    get availability(): CaptureActor['availability'] {
      const unavailable = browserPool.unavailable;
      if (unavailable === null) return { available: true };
      const { reason, detail } = unavailable;
      return { available: false, reason, detail };
    },
    stats: () => ({
      busy: slots.busy,
      idle: slots.idle,
      browsers: [...browserPool.browsers(), ...interactive.browsers()],
      launches: browserPool.counts.launches + interactive.counts.launches,
      crashes: browserPool.counts.crashes + interactive.counts.crashes,
    }),
    missingScripts: async () => missingScripts(await browserPool.host()),
    setSlots: (wanted) => {
      slots.resize(wanted);
      browserPool.setBrowsers(browsersFor(wanted));
    },
    kill: () => {
      closing.abort();
      browserPool.kill();
      interactive.kill();
    },
    close: async () => {
      closing.abort();
      await Promise.all([browserPool.close(), interactive.close()]);
      await slots.close();
    },
  };
}

function browsersFor(slots: number): number {
  return slots < SLOTS_FOR_TWO_BROWSERS ? 1 : 2;
}

/** Whether the browser or the page ended, for which another page in the same browser may be the cause. */
function mayBeInnocent(error: unknown): boolean {
  return error instanceof CdpClosedError || error instanceof PageCrashedError || error instanceof SuspectedError;
}

function asCapstanError(error: unknown): CapstanError {
  if (error instanceof CapstanError) return error;
  const code = error instanceof PageCrashedError ? 'page_crashed' : 'internal';
  return new CapstanError(code, undefined, { cause: error });
}
