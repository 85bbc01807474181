import type { ChildProcess } from 'node:child_process';
import { mkdtemp, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { setTimeout as delay, setImmediate as immediate } from 'node:timers/promises';
import type { Protocol } from 'devtools-protocol';
import { browserEnvironment } from './browser-environment.ts';
import { endFamily, startProcess } from './browser-process.ts';
import { CdpClosedError, CdpConnection, type CdpSession } from './cdp/connection.ts';
import type { Confined } from './confinement.ts';
import { launchFlags } from './launch-flags.ts';
import { removeProfile } from './remove-profile.ts';

/** Longest that a browser may take to answer its first command. Debian's headless shell takes 62 ms when idle. */
const LAUNCH_TIMEOUT_MS = 20_000;
/** Longest that a browser may take to end when it is asked to, before it is killed. */
const CLOSE_TIMEOUT_MS = 3_000;
/** Longest that a killed browser's own parent may take to follow it. */
const FRONT_TIMEOUT_MS = 1_000;
/** How long the browser takes to see that a process of it has ended. */
const SEEN_MS = 500;
const PROFILE_PREFIX = 'capstan-profile-';
/** The owner's process id, and when that process started, as the system counts it (`startOf`). */
const PROFILE_NAME = /^capstan-profile-(\d+)-(?:(\d+)-)?/;

export interface LaunchOptions {
  readonly executable: string;
  readonly confined: Confined;
  /** Keeps the user agent that names HeadlessChrome, and `navigator.webdriver` true. */
  readonly honestUserAgent: boolean;
  /** Ends the launch when it is aborted. */
  readonly signal?: AbortSignal;
  /** Added to the environment that the browser gets (fonts). */
  readonly env?: Readonly<Record<string, string>>;
}

/** A browser could not be launched. The message says what it printed last. */
export class LaunchError extends Error {
  override readonly name = 'LaunchError';
  /** It ended by itself, and the message may say why. Else it was only too slow. */
  readonly ended: boolean;

  constructor(message: string, { ended, ...options }: ErrorOptions & { readonly ended: boolean }) {
    super(message, options);
    this.ended = ended;
  }
}

export type AttachHandler = (session: CdpSession, info: Protocol.Target.TargetInfo) => void;

/** Launches a browser and resolves once it takes commands. Rejects with a `LaunchError`; nothing stays behind then. */
export async function launchBrowser(options: LaunchOptions): Promise<BrowserHost> {
  // The name tells a later start whether the owner is still there. The process id alone does not: in a container that is
  // restarted the service has the same one.
  const profileDir = await mkdtemp(join(tmpdir(), `${PROFILE_PREFIX}${process.pid}-${await startOf(process.pid)}-`));
  const { sandbox, user } = options.confined;
  const env = browserEnvironment(process.env, profileDir, options.env);
  const flags = launchFlags({ profileDir, sandbox, honest: options.honestUserAgent });
  const child = await startProcess({ executable: options.executable, flags, env, profileDir, user }).catch(
    async (error: unknown) => {
      await removeProfile(profileDir).catch(() => undefined);
      throw new LaunchError(`${options.executable} did not start: ${String(error)}`, { cause: error, ended: true });
    },
  );
  const host = new BrowserHost(child, profileDir, options);
  const cancel = () => host.killNow();
  options.signal?.addEventListener('abort', cancel, { once: true });
  if (options.signal?.aborted === true) cancel();
  try {
    await host.ready(LAUNCH_TIMEOUT_MS);
    options.signal?.removeEventListener('abort', cancel);
    return host;
  } catch (error) {
    options.signal?.removeEventListener('abort', cancel);
    await host.kill();
    const why = [host.lastWords(), error instanceof Error ? error.message : String(error)].filter(
      (words) => words !== '',
    );
    // Its pipes may close before its end is known.
    const ended = error instanceof CdpClosedError || (error instanceof LaunchError && error.ended);
    throw new LaunchError(`${options.executable} did not start: ${why.join('; ')}`, { cause: error, ended });
  }
}

/**
 * Removes the profile directories that processes which are gone have left behind (after a `kill -9`, nobody could).
 * Resolves with how many there were.
 */
export async function sweepProfiles(): Promise<number> {
  const names = await readdir(tmpdir());
  const owned = await Promise.all(names.map(hasOwner));
  const orphans = names.filter((name, index) => PROFILE_NAME.test(name) && owned[index] === false);
  const removals = orphans.map((name) => removeProfile(join(tmpdir(), name)));
  // One that is another user's stays, but for root.
  return (await Promise.allSettled(removals)).filter(({ status }) => status === 'fulfilled').length;
}

/** Whether the process that made the directory of that name is still running. */
async function hasOwner(name: string): Promise<boolean> {
  const [match, pid, start] = PROFILE_NAME.exec(name) ?? [];
  if (match === undefined || !isAlive(Number(pid))) return false;
  return start === undefined || start === (await startOf(Number(pid)));
}

/** When a process started, in clock ticks since the system did; `0` where the system does not tell. */
async function startOf(pid: number): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
  // pid (name) state parent ..., and the name may hold anything: the start is the 20th behind it.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '0';
}

/** A browser process and its life. */
export class BrowserHost {
  readonly connection: CdpConnection;
  /** Resolves when the process has ended and its profile directory is removed, with what it ended by. */
  readonly ended: Promise<string>;
  readonly #child: ChildProcess;
  readonly #contexts = new Map<string, AttachHandler>();
  readonly #isHonest: boolean;
  #pid: number;
  #userAgent: string | undefined;
  #stderr = '';
  #endingRenderers = 0;

  constructor(child: ChildProcess, profileDir: string, { honestUserAgent }: Pick<LaunchOptions, 'honestUserAgent'>) {
    const [, , stderr, output, input] = child.stdio;
    if (!(stderr instanceof Readable && output instanceof Writable && input instanceof Readable)) {
      throw new TypeError('the browser was spawned without its pipes');
    }
    this.#child = child;
    this.#isHonest = honestUserAgent;
    this.#pid = child.pid ?? 0;
    this.connection = new CdpConnection(output, input);
    stderr.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString('utf8')).slice(-4096);
    });
    this.ended = new Promise<string>((resolve) => {
      // One that cannot be ended says so each time.
      child.on('error', (error) => resolve(error.message));
      child.once('exit', (code, signal) => resolve(signal === null ? `exit code ${code}` : `signal ${signal}`));
    }).then(async (how) => {
      // Renderers outlive a killed browser for a moment, and write to the profile while they do.
      endFamily(child);
      // What cannot be removed now is swept by the next start.
      await removeProfile(profileDir).catch(() => undefined);
      return how;
    });
    this.connection.root.on('Target.attachedToTarget', ({ sessionId, targetInfo }) => {
      const session = this.connection.session(sessionId);
      const handler = this.#contexts.get(targetInfo.browserContextId ?? '');
      if (handler !== undefined) handler(session, targetInfo);
    });
  }

  /**
   * Of the browser's own process: what was spawned may be a script in front of it. Of the script, where that gives the
   * browser a namespace in which processes have other numbers.
   */
  get pid(): number {
    return this.#pid;
  }

  /** The user agent that pages are to see where a request names none; undefined: Chromium's own. */
  get userAgent(): string | undefined {
    return this.#userAgent;
  }

  /** Resolves once the browser pauses every new page, service worker and shared worker until it is told to run. */
  async ready(timeoutMs: number): Promise<void> {
    const timeout = new AbortController();
    try {
      await Promise.race([
        this.#setUp(),
        this.ended.then((how) => Promise.reject(new LaunchError(`it ended with ${how}`, { ended: true }))),
        delay(timeoutMs, undefined, { signal: timeout.signal }).then(() =>
          Promise.reject(new LaunchError(`no answer within ${timeoutMs} ms`, { ended: false })),
        ),
      ]);
    } finally {
      timeout.abort();
    }
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

  /** Calls `handler` for each page, service worker and shared worker that appears in a browser context, until the returned function is called. */
  onAttach(browserContextId: string, handler: AttachHandler): () => void {
    this.#contexts.set(browserContextId, handler);
    return () => this.#contexts.delete(browserContextId);
  }

  /** The processes of the browser. Resolves with none when it does not answer, or where their numbers are not the system's. */
  async processes(): Promise<readonly { readonly pid: number; readonly type: string }[]> {
    const answer = await this.connection.root.send('SystemInfo.getProcessInfo').catch(() => undefined);
    const found = answer?.processInfo.map(({ id: pid, type }) => ({ pid, type })) ?? [];
    const ours = await Promise.all(found.map(({ pid }) => isOfGroup(pid, this.#child.pid ?? 0)));
    return found.filter((_, index) => ours[index]);
  }

  /** Kills a renderer that takes too much memory. Pages that crash until the browser has seen that are told by `endsRenderer`. */
  async endRenderer(pid: number): Promise<void> {
    this.#endingRenderers += 1;
    killIfThere(pid);
    // The crash is announced before the answer to a question that is asked after it.
    await delay(SEEN_MS);
    await this.answers(FRONT_TIMEOUT_MS);
    this.#endingRenderers -= 1;
  }

  /** Whether a renderer that crashes now does so because it took too much memory. */
  get endsRenderer(): boolean {
    return this.#endingRenderers > 0;
  }

  /** The last that the browser wrote to standard error, in one line. */
  lastWords(): string {
    return this.#stderr.trim().split('\n').slice(-3).join(' | ');
  }

  /** True when the browser answers within `timeoutMs`. */
  async answers(timeoutMs: number): Promise<boolean> {
    const timeout = new AbortController();
    const silence = delay(timeoutMs, undefined, { signal: timeout.signal })
      // Where it was us who stood still, the answer lies in the pipe, which is read after the clock is.
      .then(() => immediate(false))
      .catch(() => false);
    const answer = this.connection.root.send('Browser.getVersion').then(
      () => true,
      () => false,
    );
    const answered = await Promise.race([answer, silence]);
    timeout.abort();
    return answered;
  }

  /** Ends the browser, kindly at first. Resolves when nothing of it is left. */
  async close(): Promise<void> {
    this.connection.root.post('Browser.close');
    await this.#endsWithin(CLOSE_TIMEOUT_MS);
    await this.kill();
  }

  /** Ends the browser and all its processes at once. Resolves when nothing of it is left. */
  async kill(): Promise<void> {
    const running = () => this.#child.exitCode === null && this.#child.signalCode === null;
    if (running() && this.#child.pid !== undefined && this.#pid !== this.#child.pid) {
      // What stands in front of the browser then ends by itself, and leaves no zombie to nobody.
      killIfThere(this.#pid);
      await this.#endsWithin(FRONT_TIMEOUT_MS);
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

  /** Resolves when it has ended, or `ms` milliseconds later. */
  async #endsWithin(ms: number): Promise<void> {
    const timeout = new AbortController();
    const patience = delay(ms, undefined, { signal: timeout.signal }).catch(() => undefined);
    await Promise.race([this.ended, patience]);
    timeout.abort();
  }
}

/** The user agent of the same Chrome with a window, which names no more than its major version. */
function withoutHeadless(userAgent: string): string {
  return userAgent.replace(/\bHeadlessChrome\/(\d+)[\d.]*/, 'Chrome/$1.0.0.0');
}

/** Whether a process belongs to the group that `leader` leads. True where the system has no namespaces to mistake it in. */
async function isOfGroup(pid: number, leader: number): Promise<boolean> {
  if (process.platform !== 'linux') return true;
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
  // pid (name) state parent group ..., and the name may hold anything.
  const [, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(group) === leader;
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
