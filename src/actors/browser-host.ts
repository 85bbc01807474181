import type { ChildProcess } from 'node:child_process';
import { Readable, Writable } from 'node:stream';
import { setTimeout as delay, setImmediate as immediate } from 'node:timers/promises';
import type { Protocol } from 'devtools-protocol';
import { within } from '../capture/deadline.ts';
import { CdpConnection, type CdpSession } from '../cdp/connection.ts';
import { processStat, waitedForCore } from './checks/process-stat.ts';
import { endFamily } from './launching/browser-process.ts';
import { removeProfile } from './launching/remove-profile.ts';

/** Time that a browser has to close before it is killed, in milliseconds. */
const CLOSE_TIMEOUT_MS = 3_000;
/** Time that the wrapper process of a killed browser has to end, in milliseconds. */
const FRONT_TIMEOUT_MS = 1_000;
/** Time in which the browser notices that one of its processes has ended, in milliseconds. */
const SEEN_MS = 500;
/** Time that a browser has to announce the end of a renderer, in milliseconds. A flooded browser announces it late. */
const ANNOUNCE_MS = 10_000;
/** Time after an answer in which a flooded browser may still announce the end of a renderer, in milliseconds. */
const FLOODED_MS = 2_000;
/** How many times as long a browser may take to answer when other programs take the cores. */
const MAX_PATIENCE = 4;

/** A browser could not be launched. The message contains the last output of the browser. */
export class LaunchError extends Error {
  override readonly name = 'LaunchError';
  /** True when the browser ended by itself, and the message may say why; false when it was too slow. */
  readonly ended: boolean;

  constructor(message: string, { ended, ...options }: ErrorOptions & { readonly ended: boolean }) {
    super(message, options);
    this.ended = ended;
  }
}

type AttachHandler = (session: CdpSession, info: Protocol.Target.TargetInfo) => void;

/** A browser process, from its launch to its end. */
export class BrowserHost {
  readonly connection: CdpConnection;
  /** Resolves with the exit reason when the process has ended and its profile directory is removed. */
  readonly ended: Promise<string>;
  readonly #child: ChildProcess;
  readonly #contexts = new Map<string, AttachHandler>();
  readonly #downloads = new Map<string, (filename: string) => void>();
  readonly #isHonest: boolean;
  #pid: number;
  #userAgent: string | undefined;
  #stderr = '';
  readonly #endingRenderers: Error[] = [];

  /** `isHonest`: whether to keep the user agent that names HeadlessChrome. */
  constructor(child: ChildProcess, profileDir: string, isHonest: boolean) {
    const [, , stderr, output, input] = child.stdio;
    if (!(stderr instanceof Readable && output instanceof Writable && input instanceof Readable)) {
      throw new TypeError('the browser was spawned without its pipes');
    }
    this.#child = child;
    this.#isHonest = isHonest;
    this.#pid = child.pid ?? 0;
    this.connection = new CdpConnection(output, input);
    stderr.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString('utf8')).slice(-4096);
    });
    this.ended = new Promise<string>((resolve) => {
      // A process that cannot be killed emits `error` each time.
      child.on('error', (error) => resolve(error.message));
      child.once('exit', (code, signal) => resolve(signal === null ? `exit code ${code}` : `signal ${signal}`));
    }).then(async (how) => {
      // Renderers outlive a killed browser for a moment and still write to the profile.
      endFamily(child);
      // The next start removes what cannot be removed now.
      await removeProfile(profileDir).catch(() => undefined);
      return how;
    });
    this.connection.root.on('Target.attachedToTarget', ({ sessionId, targetInfo }) => {
      const session = this.connection.session(sessionId);
      const handler = this.#contexts.get(targetInfo.browserContextId ?? '');
      if (handler !== undefined) handler(session, targetInfo);
    });
    this.connection.root.on('Browser.downloadWillBegin', ({ frameId, suggestedFilename }) => {
      this.#downloads.get(frameId)?.(suggestedFilename);
    });
  }

  /**
   * Process id of the browser itself, which differs from the spawned process when the command is a wrapper script. The
   * script's process id if the script starts the browser in another pid namespace.
   */
  get pid(): number {
    return this.#pid;
  }

  /** Process group of the browser and everything that it starts. */
  get group(): number {
    return this.#child.pid ?? 0;
  }

  /** User agent for requests that name none; undefined keeps Chromium's own. */
  get userAgent(): string | undefined {
    return this.#userAgent;
  }

  /** Resolves once the browser pauses every new page, service worker and shared worker until it is resumed. */
  async ready(timeoutMs: number): Promise<void> {
    const setUp = this.#setUp().then(() => true);
    const ended = this.ended.then((how) => Promise.reject(new LaunchError(`it ended with ${how}`, { ended: true })));
    const isReady = await within(timeoutMs, Promise.race([setUp, ended]), false);
    if (!isReady) throw new LaunchError(`no answer within ${timeoutMs} ms`, { ended: false });
  }

  async #setUp(): Promise<void> {
    const { root } = this.connection;
    root.post('Target.setAutoAttach', {
      autoAttach: true,
      waitForDebuggerOnStart: true,
      flatten: true,
      filter: [{ type: 'page' }, { type: 'service_worker' }, { type: 'shared_worker' }, { exclude: true }],
    });
    const [{ processInfo }, { userAgent }] = await Promise.all([
      root.send('SystemInfo.getProcessInfo'),
      root.send('Browser.getVersion'),
    ]);
    if (!this.#isHonest) this.#userAgent = withoutHeadless(userAgent);
    const pid = processInfo.find(({ type }) => type === 'browser')?.id;
    if (pid !== undefined && (await isOfGroup(pid, this.#pid))) this.#pid = pid;
  }

  /**
   * Calls `handler` for each page, service worker and shared worker that appears in a browser context, until the
   * returned function is called.
   */
  onAttach(browserContextId: string, handler: AttachHandler): () => void {
    this.#contexts.set(browserContextId, handler);
    return () => this.#contexts.delete(browserContextId);
  }

  /** Calls `handler` with the file name of each download that a frame begins, until the returned function is called. */
  onDownload(frameId: string, handler: (filename: string) => void): () => void {
    this.#downloads.set(frameId, handler);
    return () => this.#downloads.delete(frameId);
  }

  /**
   * Returns the processes that the browser names; none when it does not answer. Their ids are those of its own pid
   * namespace, so ask `owns` before one is killed.
   */
  async processes(): Promise<readonly { readonly pid: number; readonly type: string }[]> {
    const answer = await this.connection.root.send('SystemInfo.getProcessInfo').catch(() => undefined);
    return answer?.processInfo.map(({ id: pid, type }) => ({ pid, type })) ?? [];
  }

  /** Returns whether a process is one of this browser. */
  owns(pid: number): Promise<boolean> {
    return isOfGroup(pid, this.group);
  }

  /** Kills a renderer. `endsRenderer` returns `failure` until the browser has noticed the end of the renderer. */
  async endRenderer(pid: number, failure: Error): Promise<void> {
    this.#endingRenderers.push(failure);
    killIfThere(pid);
    // The browser announces the crash before it answers a command that is sent after it.
    await delay(SEEN_MS);
    await this.answers(ANNOUNCE_MS);
    // Measured: a flooded browser announces it a moment later.
    await delay(FLOODED_MS);
    this.#endingRenderers.splice(this.#endingRenderers.indexOf(failure), 1);
  }

  /** Why this service killed a renderer, while the browser may not have reported its end yet; undefined otherwise. */
  get endsRenderer(): Error | undefined {
    return this.#endingRenderers.at(-1);
  }

  /** Returns the last lines that the browser wrote to standard error, joined into one. */
  lastWords(): string {
    return this.#stderr.trim().split('\n').slice(-3).join(' | ');
  }

  /** Returns whether the browser answers within `timeoutMs`. */
  async answers(timeoutMs: number): Promise<boolean> {
    const answer = this.#answer();
    return (await within(timeoutMs, answer, null)) ?? hasCome(answer);
  }

  /**
   * Returns whether the browser answers within `timeoutMs` of the time in which it has a core when it needs one. On a
   * busy machine it has more time, but at most `MAX_PATIENCE` times as much.
   */
  async answersWhenItRuns(timeoutMs: number): Promise<boolean> {
    const answer = this.#answer();
    const [startedAt, before] = [performance.now(), waitedForCore(this.#pid)];
    let restMs = timeoutMs;
    do {
      const answers = await within(restMs, answer, null);
      if (answers !== null) return answers;
      const waitedMs = waitedForCore(this.#pid) - before;
      restMs = Math.min(timeoutMs + waitedMs, MAX_PATIENCE * timeoutMs) - (performance.now() - startedAt);
    } while (restMs > 0);
    return hasCome(answer);
  }

  /** Resolves with true when the browser answers, and with false when its connection closes before. */
  #answer(): Promise<boolean> {
    return this.connection.root.send('Browser.getVersion').then(
      () => true,
      () => false,
    );
  }

  /** Closes the browser, or kills it when it does not close in time. Resolves when nothing is left of it. */
  async close(): Promise<void> {
    this.connection.root.post('Browser.close');
    await within(CLOSE_TIMEOUT_MS, this.ended, undefined);
    await this.kill();
  }

  /** Kills the browser and all its processes. Resolves when nothing is left of it. */
  async kill(): Promise<void> {
    const running = () => this.#child.exitCode === null && this.#child.signalCode === null;
    if (running() && this.#child.pid !== undefined && this.#pid !== this.#child.pid) {
      // The wrapper command then ends by itself and reaps the browser, so no zombie stays.
      killIfThere(this.#pid);
      await within(FRONT_TIMEOUT_MS, this.ended, undefined);
    }
    if (running()) endFamily(this.#child);
    await this.ended;
  }

  /** Kills the browser and all its processes, without waiting for their end. */
  killNow(): void {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    if (this.#pid !== this.#child.pid) killIfThere(this.#pid);
    endFamily(this.#child);
  }
}

/**
 * Returns an answer that has come but was not read yet, otherwise false: if this process was suspended, the answer is
 * already in the pipe, which is read after the timers.
 */
function hasCome(answer: Promise<boolean>): Promise<boolean> {
  return Promise.race([answer, immediate(false)]);
}

/** Returns the user agent of the same Chrome with a window, which names only the major version. */
function withoutHeadless(userAgent: string): string {
  return userAgent.replace(/\bHeadlessChrome\/(\d+)[\d.]*/, 'Chrome/$1.0.0.0');
}

/** Returns whether a process belongs to the group of `leader`; true on systems without pid namespaces. */
async function isOfGroup(pid: number, leader: number): Promise<boolean> {
  return process.platform !== 'linux' || (await processStat(pid))?.group === leader;
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has ended.
  }
}
