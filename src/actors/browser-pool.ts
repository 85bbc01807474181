import { Subject } from 'rxjs';
import { CapstanError } from '../capture/errors.ts';
import type { BrowserEndCause, BrowserEvent } from '../capture/events.ts';
import { type BrowserHost, LaunchError, launchBrowser } from './browser-host.ts';
import type { StartCommand } from './browser-priority.ts';
import type { Confinement } from './confinement.ts';
import type { ExecutableFinder } from './executable.ts';
import { FloodWatch } from './flood-watch.ts';
import { checkMemory, type MemoryBounds } from './memory-watch.ts';

export interface BrowserPoolOptions {
  readonly findExecutable: ExecutableFinder;
  readonly confinement: Confinement;
  readonly startCommand: StartCommand;
  /** Whether pages see the user agent of headless Chromium. */
  readonly honestUserAgent: boolean;
  readonly memory: MemoryBounds;
  /** Number of captures after which a browser is retired. */
  readonly retireAfter: number;
  /** Number of browsers to keep running. */
  readonly browsers: number;
  /**
   * Time without a capture after which a browser is closed, in milliseconds; the next browser is launched on demand.
   * Undefined keeps a browser running.
   */
  readonly idleMs?: number;
}

const NOT_STARTED = 'Chromium did not start: the log of the service has the cause';
/** Pause after a failed launch, in milliseconds: doubles with each failure, up to the maximum. */
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 15_000;
/** Interval between memory checks of a browser in use, in milliseconds. */
const MEMORY_CHECK_MS = 1_000;
/** Interval at which browsers in use are checked for a page that floods them, in milliseconds. */
const FLOOD_CHECK_MS = 250;
/** Interval between heartbeats of a browser in use, and the time limit for its answer, in milliseconds. */
const HEARTBEAT_MS = 2_000;
const HEARTBEAT_ANSWER_MS = 8_000;

/** The right to make one capture on a browser. Must be released. */
export interface BrowserLease {
  readonly host: BrowserHost;
  /** The reason why the pool killed the browser; null when it did not. */
  readonly killed: Ending | null;
  release(): void;
}

/** The reason why no browser is available. */
export interface Unavailable {
  /** Text for clients, without paths and without the browser's output. */
  readonly reason: string;
  /** Text for the operator. */
  readonly detail: string;
}

/** Cause of the end of a browser, and a human-readable `reason`. */
export interface Ending {
  readonly cause: BrowserEndCause;
  readonly reason: string;
}

interface Member {
  readonly host: BrowserHost;
  /** Whether the browser serves one capture, and ends with it. */
  readonly alone: boolean;
  leases: number;
  captures: number;
  retiring: Ending | null;
  /** Set when the pool has killed the browser. */
  killed: Ending | null;
  heartbeat: NodeJS.Timeout;
  memory: NodeJS.Timeout;
  checksMemory: boolean;
  floods: NodeJS.Timeout;
  idle: NodeJS.Timeout | undefined;
}

/**
 * Keeps browsers running: launches them, retires them after their captures have ended, and replaces those that crash or
 * hang. While no browser can be launched, a circuit breaker is open: leases are refused at once, and the launch is
 * retried after growing pauses until it succeeds.
 */
export class BrowserPool {
  readonly events$ = new Subject<BrowserEvent>();
  readonly #options: BrowserPoolOptions;
  readonly #members = new Set<Member>();
  #launching: Promise<Member> | null = null;
  /** The last launch of a browser for one capture. They are launched one after another. */
  #launchingAlone: Promise<unknown> = Promise.resolve();
  readonly #closing = new AbortController();
  #breaker: (Unavailable & { readonly timer: NodeJS.Timeout }) | null = null;
  #pauseMs = FIRST_PAUSE_MS;
  #wanted: number;
  #closed = false;
  #launches = 0;
  #crashes = 0;

  constructor(options: BrowserPoolOptions) {
    this.#options = options;
    this.#wanted = options.browsers;
  }

  /** The reason why no browser is available; null while one is. */
  get unavailable(): Unavailable | null {
    return this.#breaker;
  }

  get counts(): { readonly launches: number; readonly crashes: number } {
    return { launches: this.#launches, crashes: this.#crashes };
  }

  browsers(): { pid: number; captures: number; retiring: boolean }[] {
    return [...this.#members].map(({ host, captures, retiring, alone }) => ({
      pid: host.pid,
      captures,
      retiring: alone || retiring !== null,
    }));
  }

  /** Launches the first browser before the first capture. Resolves whether or not it succeeds. */
  async warmUp(): Promise<void> {
    await this.#launch().catch(() => undefined);
  }

  /** Returns a browser without a lease; it may end at any time. Rejects with `browser_unavailable`. */
  async host(): Promise<BrowserHost> {
    if (this.#breaker !== null) throw new CapstanError('browser_unavailable', this.#breaker.reason);
    return (this.#leastBusy() ?? (await this.#launch())).host;
  }

  /** Leases the browser with the fewest captures. Rejects with `browser_unavailable`. */
  async lease(): Promise<BrowserLease> {
    if (this.#breaker !== null) throw new CapstanError('browser_unavailable', this.#breaker.reason);
    const member = this.#leastBusy() ?? (await this.#launch());
    member.leases += 1;
    clearTimeout(member.idle);
    if (this.#serving().length < this.#wanted && member.leases > 1) this.#launch().catch(() => undefined);
    return leaseOf(member, () => {
      this.#startIdling(member);
      void this.#retireWhenDue(member);
    });
  }

  /**
   * Launches a browser for one capture, and leases it. It is killed when the lease is released. Rejects with
   * `browser_unavailable`, and with `cancelled` when `over` is aborted before the launch.
   */
  async leaseAlone(over: AbortSignal): Promise<BrowserLease> {
    const launching = this.#launchingAlone.then(() => {
      if (over.aborted) throw new CapstanError('cancelled');
      if (this.#breaker !== null) throw new CapstanError('browser_unavailable', this.#breaker.reason);
      return this.#launchOne(true);
    });
    this.#launchingAlone = launching.catch(() => undefined);
    const member = await launching;
    member.leases += 1;
    return leaseOf(member, () => {
      // `#remove` reports a browser that has ended by itself, or was killed because it hung.
      if (member.host.connection.closed || member.killed !== null) return;
      member.retiring = { cause: 'captures', reason: 'it was launched for one capture' };
      member.host.killNow();
      void this.#end(member);
    });
  }

  /** Sets the number of browsers to keep. More are launched on demand; surplus ones end after their captures. */
  setBrowsers(wanted: number): void {
    this.#wanted = wanted;
    const serving = this.#byLeases();
    for (const member of serving.slice(0, Math.max(0, serving.length - wanted))) {
      member.retiring = { cause: 'surplus', reason: 'fewer browsers are needed' };
      if (member.leases === 0) void this.#end(member);
    }
  }

  /** Closes every browser. Resolves when no process and no profile directory is left. */
  async close(): Promise<void> {
    this.#closed = true;
    // A launch in progress may take its whole time limit.
    this.#closing.abort();
    if (this.#breaker !== null) clearTimeout(this.#breaker.timer);
    await this.#launching?.catch(() => undefined);
    await this.#launchingAlone;
    await Promise.all([...this.#members].map((member) => this.#end(member)));
    this.events$.complete();
  }

  /** Kills every browser, including those being launched, without waiting for their end. */
  kill(): void {
    this.#closed = true;
    this.#closing.abort();
    for (const { host } of this.#members) host.killNow();
  }

  /** Returns browsers in service. A closed pipe excludes a browser, because it closes before the exit is reported. */
  #serving(): Member[] {
    return [...this.#members].filter(
      ({ alone, retiring, host }) => !alone && retiring === null && !host.connection.closed,
    );
  }

  #leastBusy(): Member | undefined {
    return this.#byLeases()[0];
  }

  /** Returns browsers in service, the least busy first. */
  #byLeases(): Member[] {
    return this.#serving().sort((a, b) => a.leases - b.leases);
  }

  /** Launches one browser at a time; concurrent callers share the launch. */
  #launch(): Promise<Member> {
    this.#launching ??= this.#launchOne().finally(() => {
      this.#launching = null;
    });
    return this.#launching;
  }

  async #launchOne(alone = false): Promise<Member> {
    if (this.#closed) throw new CapstanError('shutting_down');
    const found = await this.#options.findExecutable();
    if ('missing' in found) {
      throw this.#openBreaker({ reason: found.missing, detail: found.detail ?? found.missing });
    }
    const { confinement, startCommand, honestUserAgent } = this.#options;
    const confined = confinement.now;
    try {
      const host = await launchBrowser({
        executable: found.path,
        env: found.env,
        confined,
        startCommand,
        honestUserAgent,
        signal: this.#closing.signal,
      });
      confinement.works(confined);
      this.#closeBreaker();
      return this.#admit(host, alone);
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error);
      const ended = error instanceof LaunchError && error.ended;
      if (ended && this.#options.confinement.loosen(confined, detail)) return this.#launchOne(alone);
      throw this.#openBreaker({ reason: NOT_STARTED, detail });
    }
  }

  #admit(host: BrowserHost, alone: boolean): Member {
    const floodWatch = new FloodWatch(host, alone);
    const member: Member = {
      host,
      alone,
      leases: 0,
      captures: 0,
      retiring: null,
      killed: null,
      heartbeat: setInterval(() => void this.#checkPulse(member), HEARTBEAT_MS).unref(),
      memory: setInterval(() => void this.#checkMemory(member), MEMORY_CHECK_MS).unref(),
      checksMemory: false,
      floods: setInterval(() => void this.#checkFloods(member, floodWatch), FLOOD_CHECK_MS).unref(),
      idle: undefined,
    };
    this.#members.add(member);
    this.#startIdling(member);
    this.#launches += 1;
    void host.ended.then((how) => this.#remove(member, how));
    this.#emit('browser.launched', member);
    return member;
  }

  /** Starts the idle timer, which the next lease stops. */
  #startIdling(member: Member): void {
    const { idleMs } = this.#options;
    if (idleMs === undefined || member.alone || member.leases > 0 || member.retiring !== null) return;
    member.idle = setTimeout(() => {
      member.retiring = { cause: 'idle', reason: 'no capture needs it' };
      void this.#end(member);
    }, idleMs).unref();
  }

  /** Launches a replacement before the next capture, in a pool that always keeps a browser. */
  #replaceWhenMissing(wanted: number): void {
    if (this.#options.idleMs === undefined && this.#serving().length < wanted) this.#launch().catch(() => undefined);
  }

  #remove(member: Member, how: string): void {
    clearInterval(member.heartbeat);
    clearInterval(member.memory);
    clearInterval(member.floods);
    clearTimeout(member.idle);
    if (!this.#members.delete(member)) return;
    if (member.retiring !== null || this.#closed) return;
    this.#crashes += 1;
    this.#emit('browser.crashed', member, member.killed ?? { cause: 'crash', reason: how });
    // Restores the number of browsers without waiting for a capture, unless a capture has already done so.
    this.#replaceWhenMissing(this.#wanted);
  }

  async #checkPulse(member: Member): Promise<void> {
    if (member.leases === 0 || (await member.host.answers(HEARTBEAT_ANSWER_MS))) return;
    member.killed ??= {
      cause: 'hang',
      reason: `it hung: no answer within ${HEARTBEAT_ANSWER_MS} ms, so it was killed`,
    };
    await member.host.kill();
  }

  async #checkFloods(member: Member, floodWatch: FloodWatch): Promise<void> {
    if (member.leases === 0 || !(await floodWatch.check(FLOOD_CHECK_MS))) return;
    member.killed ??= { cause: 'hang', reason: 'it hung: pages flooded it with messages, so it was killed' };
    await member.host.kill();
  }

  async #checkMemory(member: Member): Promise<void> {
    if (member.leases === 0 || member.checksMemory) return;
    member.checksMemory = true;
    const verdict = await checkMemory(member.host, this.#options.memory).finally(() => {
      member.checksMemory = false;
    });
    if (verdict === 'fits' || this.#closed) return;
    if (verdict === 'kill') {
      member.killed ??= { cause: 'memory', reason: 'it took too much memory, so it was killed' };
      await member.host.kill();
    } else if (member.retiring === null) {
      member.retiring = { cause: 'memory', reason: 'it takes too much memory' };
      this.#replaceWhenMissing(1);
      if (member.leases === 0) await this.#end(member);
    }
  }

  async #retireWhenDue(member: Member): Promise<void> {
    if (member.retiring === null && !this.#closed) {
      if (member.captures >= this.#options.retireAfter) {
        member.retiring = { cause: 'captures', reason: `after ${member.captures} captures` };
        this.#replaceWhenMissing(1);
      }
    }
    if (member.retiring !== null && member.leases === 0) await this.#end(member);
  }

  async #end(member: Member): Promise<void> {
    const ending = member.retiring ?? { cause: 'shutdown', reason: 'the service stops' };
    member.retiring = ending;
    if (this.#members.delete(member)) this.#emit('browser.retired', member, ending);
    clearInterval(member.heartbeat);
    clearInterval(member.memory);
    clearInterval(member.floods);
    clearTimeout(member.idle);
    await member.host.close();
  }

  #openBreaker(unavailable: Unavailable): CapstanError {
    if (this.#closed) return new CapstanError('shutting_down');
    if (this.#breaker !== null) clearTimeout(this.#breaker.timer);
    const timer = setTimeout(() => void this.warmUp(), this.#pauseMs).unref();
    this.#breaker = { ...unavailable, timer };
    this.#pauseMs = Math.min(this.#pauseMs * 2, MAX_PAUSE_MS);
    return new CapstanError('browser_unavailable', unavailable.reason);
  }

  #closeBreaker(): void {
    if (this.#breaker !== null) clearTimeout(this.#breaker.timer);
    this.#breaker = null;
    this.#pauseMs = FIRST_PAUSE_MS;
  }

  #emit(type: 'browser.launched', member: Member): void;
  #emit(type: 'browser.retired' | 'browser.crashed', member: Member, ending: Ending): void;
  #emit(type: BrowserEvent['type'], member: Member, ending: Ending = { cause: 'crash', reason: '' }): void {
    const base = { at: new Date().toISOString(), pid: member.host.pid, captures: member.captures };
    this.events$.next(type === 'browser.launched' ? { type, ...base } : { type, ...base, ...ending });
  }
}

/** Leases a browser until `release` is called, which calls `released`. Later calls have no effect. */
function leaseOf(member: Member, released: () => void): BrowserLease {
  let isReleased = false;
  return {
    host: member.host,
    get killed() {
      return member.killed;
    },
    release: () => {
      if (isReleased) return;
      isReleased = true;
      member.leases -= 1;
      member.captures += 1;
      released();
    },
  };
}
