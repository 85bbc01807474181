import type { Deadline } from '../capture/deadline.ts';
import type { Dialled } from '../capture/dialled.ts';
import { CapstanError } from '../capture/errors.ts';
import type { CaptureRequest } from '../capture/request.ts';
import { hasNetwork, isInteractive } from '../capture/request.ts';
import type { Snapshot } from '../capture/result/snapshot.ts';
import { CdpClosedError } from '../cdp/connection.ts';
import type { BrowsersConfig } from '../config/slices.ts';
import type { Egress, EgressProxy } from '../egress/egress.ts';
import { PageCrashedError } from '../page/frames/main-frame.ts';
import type { CaptureContext } from './actors.ts';
import type { BrowserHost } from './browser-host.ts';
import type { BrowserLease, BrowserPool } from './browser-pool.ts';
import { capturePage, type PageCapture } from './capture-page.ts';
import { SuspectedFloodError } from './checks/flood-watch.ts';
import { type OpenPage, openPage } from './direct/open-page.ts';
import { openInteractivePage } from './playwright/open-interactive-page.ts';
import { groupOf, type SharedPages, takePage } from './shared-pages.ts';

/** The browsers of all actors. */
interface SharedBrowsers {
  readonly plain: BrowserPool;
  /** Separate, because actions and forms load a browser differently from plain captures. */
  readonly interactive: BrowserPool;
}

/** The browsers, the page and the proxy that a capture uses, once. */
interface AttemptParts {
  readonly browserPool: BrowserPool;
  /** Whether the capture has a browser of its own, launched for it. @default false */
  readonly isAlone?: boolean;
  /** The browser with the shared page; undefined: any browser of the pool. */
  readonly wanted?: BrowserHost | undefined;
  /** Opens a page in a browser of the pool. */
  readonly open: OpenPage;
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
  /** Resolves when nothing of the last capture is left in a browser; never rejects. */
  #disposed: Promise<void> = Promise.resolve();

  constructor(shared: SharedByActors) {
    this.#shared = shared;
  }

  /** Captures once, or twice when the request asks for it: then the second capture counts, unless it fails. */
  async capture(
    request: CaptureRequest,
    { batch = null, dialled }: Pick<CaptureContext, 'batch' | 'dialled'>,
    deadline: Deadline,
  ): Promise<Snapshot> {
    const group = groupOf(request, batch);
    const first = await this.#attempt(request, group, deadline, dialled);
    if (!mayShowMore(first, request, deadline)) return first;
    await deadline.step('end the first attempt', this.#disposed);
    try {
      return await this.#attempt(request, group, deadline);
    } catch (error) {
      if (error instanceof CapstanError && error.code === 'cancelled') throw error;
      return first;
    }
  }

  /**
   * Captures once. Repeats a capture whose browser or page ended, in a browser of its own. `dialled`: the connection
   * for the first try. The targets of shared pages are never dialled ahead.
   */
  async #attempt(
    request: CaptureRequest,
    group: string | undefined,
    deadline: Deadline,
    dialled?: Dialled,
  ): Promise<Snapshot> {
    try {
      return await (group === undefined
        ? this.#captureOnce(this.#partsFor(request, dialled), request, deadline)
        : this.#onSharedPage(group, request, deadline));
    } catch (error) {
      if (!mayBeCausedByAnotherPage(error)) throw error;
      await deadline.step('end the first attempt', this.#disposed);
      // So one page cannot make the captures of others fail again and again.
      return await this.#captureOnce({ ...this.#partsFor(request), isAlone: true }, request, deadline);
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

  /**
   * Captures in a leased browser. If a browser of the capture's own ends, no other page can be the cause: the capture
   * fails with `page_too_large` if the browser was killed because it hung or took too much memory, otherwise with
   * `page_crashed`.
   */
  async #captureOnce(parts: AttemptParts, request: CaptureRequest, deadline: Deadline): Promise<Snapshot> {
    const { browserPool, isAlone = false, wanted, open } = parts;
    const givenUp = new AbortController();
    const leasing = isAlone ? browserPool.leaseAlone(givenUp.signal) : browserPool.lease(wanted);
    const capturing = deadline
      .step('find a browser', Promise.all([leasing, parts.egressProxy]))
      .then(([{ host }, egressProxy]) =>
        capturePage((over) => open(host, egressProxy, request, over), request, deadline, this.#shared.indexWords),
      );
    this.#disposed = disposeOf(capturing, leasing, isAlone);
    try {
      const { snapshot } = await capturing;
      return await snapshot;
    } catch (error) {
      givenUp.abort();
      throw isAlone && error instanceof CdpClosedError ? endOfOwnBrowser(await leasing, error) : error;
    }
  }

  #partsFor(request: CaptureRequest, dialled?: Dialled): AttemptParts {
    return {
      ...(isInteractive(request)
        ? { browserPool: this.#shared.browsers.interactive, open: openInteractivePage }
        : { browserPool: this.#shared.browsers.plain, open: openPage }),
      egressProxy: this.#egressProxyFor(request, dialled),
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
    const parts = { ...this.#partsFor(request), browserPool: this.#shared.browsers.plain, wanted, open };
    const snapshot = this.#captureOnce(parts, request, deadline);
    this.#disposed = this.#disposed.then(disposeUnused);
    return await snapshot;
  }

  /**
   * Returns the egress proxy without traces of the previous capture, connected through the request's proxy if it names
   * one. For a page that has no network, it accepts no connection.
   */
  async #egressProxyFor(request: CaptureRequest, dialled: Dialled | undefined): Promise<EgressProxy> {
    // Opened on first use, because generic-pool would call a `create` that rejects again at once, without end.
    this.#egressProxy ??= this.#shared.egress.openEgressProxy();
    try {
      const egressProxy = await this.#egressProxy;
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
function mayBeCausedByAnotherPage(error: unknown): boolean {
  return error instanceof CdpClosedError || error instanceof PageCrashedError || error instanceof SuspectedFloodError;
}

/**
 * Resolves when the page is closed and the browser's lease is released; never rejects. A browser is lent again once the
 * page is closed. A browser of the page's own ends first, because the page may keep it from closing.
 */
async function disposeOf(
  capturing: Promise<PageCapture>,
  leasing: Promise<BrowserLease>,
  isAlone: boolean,
): Promise<void> {
  const capture = await capturing.catch(() => undefined);
  await (isAlone ? capture?.snapshot.catch(() => undefined) : capture?.disposed);
  const lease = await leasing.catch(() => undefined);
  lease?.release();
  await capture?.disposed;
}

function endOfOwnBrowser({ killed }: BrowserLease, cause: CdpClosedError): CapstanError {
  if (killed === null) return new CapstanError('page_crashed', undefined, { cause });
  const reason = `the page was alone in a browser, and ended it (${killed.reason})`;
  return new CapstanError('page_too_large', reason, { cause });
}
