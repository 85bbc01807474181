import type { Deadline } from '../capture/deadline.ts';
import type { Dialled } from '../capture/dialled.ts';
import { CapstanError } from '../capture/errors.ts';
import type { CaptureRequest } from '../capture/request.ts';
import { hasNetwork, isInteractive } from '../capture/request.ts';
import type { Snapshot } from '../capture/result/snapshot.ts';
import { CdpClosedError } from '../cdp/connection.ts';
import type { BrowsersConfig } from '../config/slices.ts';
import type { Egress, EgressProxy } from '../egress/egress.ts';
import type { IsolatedPage } from '../page/isolated-page.ts';
import { PageCrashedError } from '../page/main-frame.ts';
import type { CaptureManner } from './actors.ts';
import type { BrowserHost } from './browser-host.ts';
import type { BrowserLease, BrowserPool } from './browser-pool.ts';
import { capturePage } from './capture-page.ts';
import { openPage, type PageOpening } from './direct/open-page.ts';
import { SuspectedError } from './flood-watch.ts';
import { openInteractivePage } from './playwright/open-page.ts';
import { groupOf, type SharedPages, takePage } from './shared-pages.ts';

/** The browsers of all actors. */
interface SharedBrowsers {
  readonly plain: BrowserPool;
  /** Separate, because actions and forms load a browser differently from plain captures. */
  readonly interactive: BrowserPool;
}

/** The browsers, the page and the proxy that a capture uses. */
interface CaptureMeans extends Pick<BrowsersConfig, 'indexWords'> {
  readonly browserPool: BrowserPool;
  /** The browser with the shared page; undefined: any browser of the pool. */
  readonly wanted?: BrowserHost | undefined;
  /** Opens a page in a browser of the pool. */
  readonly open: (...args: PageOpening) => Promise<IsolatedPage>;
  readonly egressProxy: Promise<EgressProxy>;
}

/** Parts that all actors share. */
interface SharedByActors extends Pick<BrowsersConfig, 'indexWords'> {
  readonly egress: Egress;
  readonly browsers: SharedBrowsers;
  readonly sharedPages: SharedPages;
}

/**
 * Captures one page at a time, in a browser that it leases for each capture, and through an egress proxy of its own, so
 * that traffic can be attributed to the capture. generic-pool lends it.
 */
export class BrowserActor {
  readonly #shared: SharedByActors;
  #egressProxy: Promise<EgressProxy> | null = null;
  #disposed: Promise<unknown> = Promise.resolve();
  /** The connection for the first attempt; later ones connect on their own. */
  #dialled: Dialled | undefined;

  constructor(shared: SharedByActors) {
    this.#shared = shared;
  }

  /** Captures once, or twice when the request asks for it: then the second capture counts, unless it fails. */
  async capture(
    request: CaptureRequest,
    { batch = null, dialled }: Pick<CaptureManner, 'batch' | 'dialled'>,
    deadline: Deadline,
  ): Promise<Snapshot> {
    this.#dialled = dialled;
    const group = groupOf(request, batch);
    const first = await this.#attempt(request, group, deadline);
    if (!mayShowMore(first, request, deadline)) return first;
    await deadline.step('end the first attempt', this.#disposed);
    try {
      return await this.#attempt(request, group, deadline);
    } catch (error) {
      if (error instanceof CapstanError && error.code === 'cancelled') throw error;
      return first;
    }
  }

  /** Captures once. Repeats a capture whose browser or page ended, in a browser of its own. */
  async #attempt(request: CaptureRequest, group: string | undefined, deadline: Deadline): Promise<Snapshot> {
    try {
      return await (group === undefined
        ? this.#begin(captureInShared, this.#means(request), request, deadline)
        : this.#onSharedPage(group, request, deadline));
    } catch (error) {
      if (!mayBeInnocent(error)) throw error;
      await deadline.step('end the first attempt', this.#disposed);
      // So one page cannot make the captures of others fail again and again.
      return await this.#begin(captureInOwn, this.#means(request), request, deadline);
    }
  }

  /**
   * Resolves when nothing of the last capture is left in a browser. Its network access has ended then: the egress proxy
   * refuses connections until the next capture.
   */
  async free(): Promise<void> {
    await this.#disposed;
    const egressProxy = await this.#egressProxy?.catch(() => null);
    egressProxy?.end();
  }

  async close(): Promise<void> {
    const egressProxy = await this.#egressProxy?.catch(() => null);
    await egressProxy?.close();
  }

  #begin(
    capture: typeof captureInShared | typeof captureInOwn,
    means: CaptureMeans,
    request: CaptureRequest,
    deadline: Deadline,
  ): CaptureUnderWay['snapshot'] {
    const { snapshot, disposed } = capture(means, request, deadline);
    this.#disposed = disposed.catch(() => undefined);
    return snapshot;
  }

  #means(request: CaptureRequest): CaptureMeans {
    return {
      ...(isInteractive(request)
        ? { browserPool: this.#shared.browsers.interactive, open: openInteractivePage }
        : { browserPool: this.#shared.browsers.plain, open: openPage }),
      egressProxy: this.#connectProxy(request),
      indexWords: this.#shared.indexWords,
    };
  }

  /** Captures on a page that an earlier capture of the group left, or on a new one. Leaves the page for a later one. */
  async #onSharedPage(group: string, request: CaptureRequest, deadline: Deadline): Promise<Snapshot> {
    const { wanted, open, disposeUnused } = await takePage(this.#shared.sharedPages, group, deadline, {
      use: (egressProxy) => {
        void this.close();
        this.#egressProxy = Promise.resolve(egressProxy);
      },
      giveUp: async () => {
        const egressProxy = await this.#egressProxy;
        if (egressProxy === null) throw new TypeError('a page was open without its egress proxy');
        this.#egressProxy = null;
        return egressProxy;
      },
    });
    const means = { ...this.#means(request), browserPool: this.#shared.browsers.plain, wanted, open };
    const snapshot = this.#begin(captureInShared, means, request, deadline);
    this.#disposed = this.#disposed.then(disposeUnused);
    return await snapshot;
  }

  /**
   * Returns the egress proxy without traces of the previous capture, connected through the request's proxy if it names
   * one. For a page that has no network, it accepts no connection.
   */
  async #connectProxy(request: CaptureRequest): Promise<EgressProxy> {
    // Opened on first use, because generic-pool would call a `create` that rejects again at once, without end.
    this.#egressProxy ??= this.#shared.egress.openEgressProxy();
    try {
      const egressProxy = await this.#egressProxy;
      const dialled = this.#dialled;
      this.#dialled = undefined;
      if (hasNetwork(request)) egressProxy.reset(request.proxy, dialled);
      else egressProxy.end();
      return egressProxy;
    } catch (error) {
      this.#egressProxy = null;
      throw new CapstanError('internal', undefined, { cause: error });
    }
  }
}

/** Whether the request asks for another capture of such a page, and there is as much time as the first one took. */
function mayShowMore({ verdict }: Snapshot, { retryOn = [] }: CaptureRequest, deadline: Deadline): boolean {
  return retryOn.some((name) => name === verdict?.name) && deadline.waitingMs > deadline.elapsedMs;
}

/** Whether the browser or the page ended, possibly because of another page in the same browser. */
function mayBeInnocent(error: unknown): boolean {
  return error instanceof CdpClosedError || error instanceof PageCrashedError || error instanceof SuspectedError;
}

/** A capture under way. `disposed` resolves when the page is closed and the browser's lease is released. */
interface CaptureUnderWay {
  readonly snapshot: Promise<Snapshot>;
  readonly disposed: Promise<unknown>;
}

/** Captures in a browser that other captures share. */
function captureInShared(means: CaptureMeans, request: CaptureRequest, deadline: Deadline): CaptureUnderWay {
  const leasing = means.browserPool.lease(means.wanted);
  const capturing = start(leasing, means, request, deadline);
  const disposed = capturing
    .then((capture) => capture.disposed)
    .catch(() => undefined)
    .then(() => release(leasing));
  return { snapshot: capturing.then((capture) => capture.snapshot), disposed };
}

/**
 * Captures in a browser of its own. When that browser ends, no other page can be the cause: the capture fails with
 * `page_too_large` when the browser was killed because it hung or took too much memory, otherwise with
 * `page_crashed`.
 */
function captureInOwn(means: CaptureMeans, request: CaptureRequest, deadline: Deadline): CaptureUnderWay {
  const over = new AbortController();
  const leasing = means.browserPool.leaseAlone(over.signal);
  const capturing = start(leasing, means, request, deadline);
  const snapshot = capturing
    .then((capture) => capture.snapshot)
    .catch(async (error: unknown) => {
      over.abort();
      throw error instanceof CdpClosedError ? guilty(await leasing, error) : error;
    });
  const disposed = snapshot
    .catch(() => undefined)
    // The page may keep its browser from disposing of it, so the browser is ended instead.
    .then(() => release(leasing))
    .then(() => capturing)
    .then((capture) => capture.disposed)
    .catch(() => undefined);
  return { snapshot, disposed };
}

function start(
  leasing: Promise<BrowserLease>,
  { open, egressProxy: opening, indexWords }: CaptureMeans,
  request: CaptureRequest,
  deadline: Deadline,
) {
  return deadline
    .step('find a browser', Promise.all([leasing, opening]))
    .then(([lease, egressProxy]) =>
      capturePage((over) => open(lease.host, egressProxy, request, over), request, deadline, indexWords),
    );
}

/** Releases the lease as soon as there is one. */
async function release(leasing: Promise<BrowserLease>): Promise<void> {
  const lease = await leasing.catch(() => undefined);
  lease?.release();
}

function guilty({ killed }: BrowserLease, cause: CdpClosedError): CapstanError {
  if (killed === null) return new CapstanError('page_crashed', undefined, { cause });
  const reason = `the page was alone in a browser, and ended it (${killed.reason})`;
  return new CapstanError('page_too_large', reason, { cause });
}
