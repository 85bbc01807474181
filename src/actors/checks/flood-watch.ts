import { setTimeout as delay } from 'node:timers/promises';
import { CapstanError } from '../../capture/errors.ts';
import type { BrowserHost } from '../browser-host.ts';
import { type CpuTime, cpuTimes, type Family, spent } from './cpu-times.ts';

/** Patience with a browser that does not answer, in milliseconds. */
interface Patience {
  /** Time without an answer after which the browser is examined. */
  readonly silenceMs: number;
  /** Interval in which CPU time is measured. */
  readonly sampleMs: number;
  /** Time without an answer and without a renderer that sends messages, after which the busiest renderer is ended. */
  readonly busiestMs: number;
}

/** Measured: a browser answers within 100 ms on two busy cores. */
const SHARED: Patience = { silenceMs: 250, sampleMs: 150, busiestMs: 750 };
/** A page that is alone in a browser delays no other page, and its end is final. */
const ALONE: Patience = { silenceMs: 2_000, sampleMs: 500, busiestMs: 3_000 };
/** Maximum time for an examination, in milliseconds; others follow until the heartbeat ends the browser. */
const MAX_EXAMINATION_MS = 7_500;
/**
 * Time without an answer after the end of a flooding renderer after which the browser is lost, in milliseconds: its
 * queue is full. Measured: 20 frames that post to a `BroadcastChannel` leave messages for more than 8 s.
 */
const LOST_MS = 2_000;
/** Minimum CPU time of the busiest renderer since the silence began, in clock ticks. */
const MIN_TICKS = 10;
/** Minimum CPU time in the kernel, in clock ticks. */
const MIN_SYSTEM_TICKS = 3;
/**
 * Minimum share of its CPU time that a renderer spends in the kernel when it sends large messages. Measured: 0.45 to
 * 0.8 for pages that write 100 kB to the console or call `pushState` with 1.9 MB in a loop, at most 0.05 for a page
 * that only computes, 0.1 to 0.3 for small messages (`BroadcastChannel`).
 */
const MIN_SYSTEM_SHARE = 0.3;
/**
 * Minimum CPU time of a browser that is flooded, with its renderers, in clock ticks per second: half a core. A browser
 * that gets less is silent because of other programs.
 */
const MIN_TICKS_PER_SECOND = 50;

const FLOOD = 'the page kept the browser from answering with messages (console, history or similar), and was ended';

/** The page may have kept its browser from answering. The capture is repeated in a browser of its own. */
export class SuspectedFloodError extends Error {
  override readonly name = 'SuspectedFloodError';
}

/**
 * Ends renderers that flood a browser. The messages of all pages wait in one queue of the browser process, so two pages
 * that write to the console in a loop delay every other page by more than 10 s. While the browser does not answer, the
 * renderer that spends most CPU time in the kernel, where messages are sent, is ended; when there is none for a while,
 * the busiest. In a shared browser this is a suspicion: the capture fails with a `SuspectedFloodError`. In a browser
 * with one capture it fails with `page_too_large`, but not while the screenshot is taken: Chromium answers nothing
 * while it encodes, and drawing a tall page takes a third of its time in the kernel of a virtual machine. Does nothing
 * on systems without `/proc`.
 */
export class FloodWatch {
  readonly #host: BrowserHost;
  readonly #alone: boolean;
  /** Silence since `#since`, in milliseconds; time with answers reduces it. */
  #silentMs = 0;
  #since: { readonly at: number; readonly family: Family } | undefined;
  #checking = false;

  constructor(host: BrowserHost, alone: boolean) {
    this.#host = host;
    this.#alone = alone;
  }

  /**
   * Checks whether the browser answers, and examines it until it does. Call it every `intervalMs`. Resolves with
   * whether the browser must be killed, because it does not answer after the end of the renderers that flooded it.
   */
  async check(intervalMs: number): Promise<boolean> {
    if (this.#checking || this.#draws) return false;
    this.#checking = true;
    const { silenceMs } = this.#patience;
    const limitMs = silenceMs + MAX_EXAMINATION_MS;
    let answered = false;
    const answer = this.#host.answers(limitMs).then(() => {
      answered = true;
    });
    try {
      await Promise.race([answer, delay(silenceMs)]);
      if (!answered) return await this.#examine(() => answered);
      this.#calm(intervalMs);
      return false;
    } finally {
      this.#checking = false;
    }
  }

  get #patience(): Patience {
    return this.#alone ? ALONE : SHARED;
  }

  /** The page that is alone in the browser has its screenshot taken. A heartbeat ends a browser that hangs in this. */
  get #draws(): boolean {
    return this.#alone && this.#host.connection.awaits('Page.captureScreenshot');
  }

  #calm(ms: number): void {
    this.#silentMs = Math.max(0, this.#silentMs - ms);
    if (this.#silentMs === 0) this.#since = undefined;
  }

  async #examine(answered: () => boolean): Promise<boolean> {
    const { sampleMs, busiestMs } = this.#patience;
    const { group, pid, connection } = this.#host;
    const until = performance.now() + MAX_EXAMINATION_MS;
    let before = await cpuTimes(group, pid);
    this.#since ??= { at: performance.now(), family: before };
    let endedAt = Number.POSITIVE_INFINITY;
    while (performance.now() < until && !connection.closed) {
      await delay(sampleMs);
      if (answered() || this.#draws) return false;
      this.#silentMs += sampleMs;
      const now = await cpuTimes(group, pid);
      const since = this.#spentSince(now);
      const busiest = since.isBusy && this.#silentMs >= busiestMs ? mostOf(since.times, notable) : undefined;
      const worst = mostOf(spent(before, now), inKernel) ?? busiest;
      before = now;
      if (worst === undefined && since.isBusy && performance.now() - endedAt >= LOST_MS) return true;
      if (worst === undefined) continue;
      endedAt = performance.now();
      void this.#host.endRenderer(
        worst,
        this.#alone ? new CapstanError('page_too_large', FLOOD) : new SuspectedFloodError(),
      );
      this.#silentMs = 0;
      this.#since = { at: performance.now(), family: now };
    }
    return false;
  }

  /** Returns the CPU times since the silence began, and whether they are more than those of a browser without work. */
  #spentSince(now: Family): { readonly times: Family; readonly isBusy: boolean } {
    const { at, family } = this.#since ?? { at: performance.now(), family: now };
    const times = spent(family, now);
    const total = [times.browser, ...times.renderers.values()].reduce((sum, time) => sum + both(time), 0);
    return { times, isBusy: total >= (MIN_TICKS_PER_SECOND * (performance.now() - at)) / 1000 };
  }
}

const both = ({ user, system }: CpuTime): number => user + system;

const notable = (time: CpuTime): number => (both(time) < MIN_TICKS ? 0 : both(time));

const inKernel = ({ user, system }: CpuTime): number =>
  system >= MIN_SYSTEM_TICKS && system >= MIN_SYSTEM_SHARE * (user + system) ? system : 0;

/** Returns the renderer with the highest measure; undefined when none is above 0. */
function mostOf({ renderers }: Family, measure: (time: CpuTime) => number): number | undefined {
  let busiest: { readonly pid: number; readonly value: number } | undefined;
  for (const [pid, time] of renderers) {
    const value = measure(time);
    if (value > (busiest?.value ?? 0)) busiest = { pid, value };
  }
  return busiest?.pid;
}
