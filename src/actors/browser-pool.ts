import { Subject } from 'rxjs';
import { CapstanError } from '../capture/errors.ts';
import type { BrowserEvent } from '../capture/events.ts';
import type { BrowserHost } from './browser-host.ts';
import { type Ending, startChecks } from './checks/browser-checks.ts';
import type { MemoryBounds } from './checks/memory-watch.ts';
import { LaunchBreaker, type Unavailable } from './launching/launch-breaker.ts';
import type { Launcher } from './launching/launcher.ts';

interface BrowserPoolOptions {
  readonly launcher: Launcher;
  readonly memory: MemoryBounds;
  /** Number of captures after which a browser is retired. */
  readonly retireAfter: number;
  /** Number of browsers to keep running. */
  readonly browsers: number;
  /** Called when a browser cannot be launched while another one serves captures. */
  readonly warn: (text: string) => void;
  /**
   * Time without a capture after which a browser is closed, in milliseconds; the next browser is launched on demand.
   * Undefined keeps a browser running.
   */
  readonly idleMs?: number;
}

/** The right to make one capture on a browser. Must be released. */
export interface BrowserLease {
  readonly host: BrowserHost;
  /** The reason why the pool killed the browser; null when it did not. */
  readonly killed: Ending | null;
  release(): void;
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
  /** Stops the checks of the browser. */
  readonly stopChecks: () => void;
  idle: NodeJS.Timeout | undefined;
}

/**
 * Keeps browsers running: launches them, retires them after their captures have ended, and replaces those that crash or
 * hang. While no browser can be launched, a circuit breaker is open: leases that need a launch are refused at once, and
 * a browser that is missing is launched again after growing pauses until that succeeds.
 */
export class BrowserPool {
  readonly events$ = new Subject<BrowserEvent>();
  readonly #options: BrowserPoolOptions;
  readonly #members = new Set<Member>();
  #launching: Promise<Member> | null = null;
  /** The last launch of a browser for one capture. They are launched one after another. */
  #launchingAlone: Promise<unknown> = Promise.resolve();
  readonly #closing = new AbortController();
  readonly #breaker = new LaunchBreaker(() => this.#retryLaunch());
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
    return this.#serving().length > 0 ? null : this.#breaker.unavailable;
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
    return (this.#leastBusy() ?? (await this.#launchUnlessOpen())).host;
  }

  /**
   * Leases the browser `wanted` while it is in use, otherwise the one with the fewest captures. Rejects with
   * `browser_unavailable`.
   */
  async lease(wanted?: BrowserHost): Promise<BrowserLease> {
    const member =
      this.#serving().find(({ host }) => host === wanted) ?? this.#leastBusy() ?? (await this.#launchUnlessOpen());
    member.leases += 1;
    clearTimeout(member.idle);
    if (this.#serving().length < this.#wanted && member.leases > 1) this.#launchUnlessOpen().catch(() => undefined);
    return leaseOf(member, () => {
      this.#startIdling(member);
      this.#endWhenFree(member);
      const { captures } = member;
      if (captures >= this.#options.retireAfter)
        this.#retire(member, { cause: 'captures', reason: `after ${captures} captures` });
    });
  }

  /**
   * Launches a browser for one capture, and leases it. It is killed when the lease is released. Rejects with
   * `browser_unavailable`, and with `cancelled` when `over` is aborted before the launch.
   */
  async leaseAlone(over: AbortSignal): Promise<BrowserLease> {
    const launching = this.#launchingAlone.then(() => {
      if (over.aborted) throw new CapstanError('cancelled');
      this.#breaker.check();
      return this.#launchOne(true);
    });
    this.#launchingAlone = launching.catch(() => undefined);
    const member = await launching;
    member.leases += 1;
    return leaseOf(member, () => {
      member.retiring = { cause: 'captures', reason: 'it was launched for one capture' };
      if (!hasEnded(member)) member.host.killNow();
      this.#endWhenFree(member);
    });
  }

  /** Sets the number of browsers to keep. More are launched on demand; surplus ones end after their captures. */
  setBrowsers(wanted: number): void {
    this.#wanted = wanted;
    this.#endSurplus();
  }

  /** Closes every browser. Resolves when no process and no profile directory is left. */
  async close(): Promise<void> {
    this.#closed = true;
    // A launch in progress may take its whole time limit.
    this.#closing.abort();
    this.#breaker.stop();
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

  #endSurplus(): void {
    const serving = this.#byLeases();
    for (const member of serving.slice(0, Math.max(0, serving.length - this.#wanted))) {
      member.retiring = { cause: 'surplus', reason: 'fewer browsers are needed' };
      this.#endWhenFree(member);
    }
  }

  /** Launches a browser. Rejects with `browser_unavailable` while the breaker is open. */
  async #launchUnlessOpen(): Promise<Member> {
    this.#breaker.check();
    return this.#launch();
  }

  /** Launches one browser at a time; concurrent callers share the launch. */
  #launch(): Promise<Member> {
    this.#launching ??= this.#launchOne().finally(() => {
      this.#launching = null;
      // Fewer may be wanted since the launch began.
      if (!this.#closed) this.#endSurplus();
    });
    return this.#launching;
  }

  /** Launches a browser that is missing. When none is, the next capture that needs a launch tries it. */
  #retryLaunch(): void {
    if (this.#serving().length < this.#wanted) void this.warmUp();
    else this.#breaker.close();
  }

  async #launchOne(alone = false): Promise<Member> {
    if (this.#closed) throw new CapstanError('shutting_down');
    const launched = await this.#options.launcher.launch(this.#closing.signal);
    if ('reason' in launched) throw this.#launchFailed(launched);
    this.#breaker.close();
    return this.#admit(launched, alone);
  }

  #admit(host: BrowserHost, alone: boolean): Member {
    const member: Member = {
      host,
      alone,
      leases: 0,
      captures: 0,
      retiring: null,
      killed: null,
      stopChecks: startChecks({
        host,
        alone,
        memory: this.#options.memory,
        isInUse: () => member.leases > 0,
        kill: (ending) => this.#kill(member, ending),
        retire: (ending) => this.#retire(member, ending),
      }),
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
    stopTimers(member);
    if (!this.#members.delete(member) || this.#closed) return;
    this.#crashes += 1;
    this.#emit('browser.crashed', member, member.killed ?? { cause: 'crash', reason: how });
    // Replaces it now, unless a capture has launched a browser already.
    this.#replaceWhenMissing(this.#wanted);
  }

  #kill(member: Member, ending: Ending): void {
    if (this.#closed) return;
    // A browser whose pipe is closed has crashed, and does not answer for that reason.
    if (!member.host.connection.closed) member.killed ??= ending;
    void member.host.kill();
  }

  /** Launches a replacement, and ends the browser after its captures. */
  #retire(member: Member, ending: Ending): void {
    if (this.#closed || member.retiring !== null) return;
    member.retiring = ending;
    this.#replaceWhenMissing(1);
    this.#endWhenFree(member);
  }

  #endWhenFree(member: Member): void {
    if (member.retiring === null || member.leases > 0) return;
    // A browser whose pipe is closed may still run.
    if (hasEnded(member)) void member.host.kill();
    else void this.#end(member);
  }

  async #end(member: Member): Promise<void> {
    const ending = member.retiring ?? { cause: 'shutdown', reason: 'the service stops' };
    member.retiring = ending;
    if (this.#members.delete(member)) this.#emit('browser.retired', member, ending);
    stopTimers(member);
    await member.host.close();
  }

  /** Opens the breaker. Returns the error for callers. */
  #launchFailed(unavailable: Unavailable): CapstanError {
    if (this.#closed) return new CapstanError('shutting_down');
    const isFirst = this.#breaker.unavailable === null;
    this.#breaker.open(unavailable);
    if (isFirst && this.unavailable === null) {
      this.#options.warn(`No further browser could be started, captures go on without it: ${unavailable.detail}`);
    }
    return new CapstanError('browser_unavailable', unavailable.reason);
  }

  #emit(type: 'browser.launched', member: Member): void;
  #emit(type: 'browser.retired' | 'browser.crashed', member: Member, ending: Ending): void;
  #emit(type: BrowserEvent['type'], member: Member, ending: Ending = { cause: 'crash', reason: '' }): void {
    const base = { at: new Date().toISOString(), pid: member.host.pid, captures: member.captures };
    this.events$.next(type === 'browser.launched' ? { type, ...base } : { type, ...base, ...ending });
  }
}

/** Whether a browser has ended by itself or was killed by a check; `#remove` reports both. */
function hasEnded({ host, killed }: Member): boolean {
  return host.connection.closed || killed !== null;
}

function stopTimers(member: Member): void {
  member.stopChecks();
  clearTimeout(member.idle);
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
