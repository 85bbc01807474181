import type { Deadline } from '../capture/deadline.ts';
import type { Dialled } from '../capture/dialled.ts';
import { CapstanError } from '../capture/errors.ts';
import type { CaptureRequest } from '../capture/request.ts';
import { hasNetwork, isInteractive } from '../capture/request.ts';
import type { Snapshot } from '../capture/snapshot.ts';
import { CdpClosedError } from '../cdp/connection.ts';
import type { Egress, EgressProxy } from '../egress/egress.ts';
import { PageCrashedError } from '../page/main-frame.ts';
import type { CaptureManner } from './actors.ts';
import type { BrowserPool } from './browser-pool.ts';
import { type CaptureMeans, type CaptureUnderWay, captureAlone, captureShared } from './capture-on.ts';
import type { PageReading } from './capture-page.ts';
import { openPage, type Sharing } from './direct/open-page.ts';
import { SuspectedError } from './flood-watch.ts';
import { openInteractivePage } from './playwright/open-page.ts';
import { groupOf, type SharedPages } from './shared-pages.ts';

/** The browsers of all actors. */
export interface SharedBrowsers {
  readonly plain: BrowserPool;
  /** Separate, because actions and forms load a browser differently from plain captures. */
  readonly interactive: BrowserPool;
}

/** What all actors share. */
export interface SharedByActors extends PageReading {
  readonly egress: Egress;
  readonly browsers: SharedBrowsers;
  readonly sharedPages: SharedPages;
}

/**
 * Captures one page at a time, in a browser that it leases for each capture, and through an egress proxy of its own, so
 * that traffic can be attributed to the capture. generic-pool lends it.
 */
export class BrowserActor {
  readonly #egress: Egress;
  readonly #browsers: SharedBrowsers;
  readonly #sharedPages: SharedPages;
  readonly #readsWords: boolean;
  #egressProxy: Promise<EgressProxy> | null = null;
  #disposed: Promise<unknown> = Promise.resolve();
  /** The connection for the first attempt; later ones connect on their own. */
  #dialled: Dialled | undefined;

  constructor({ egress, browsers, sharedPages, readsWords }: SharedByActors) {
    this.#egress = egress;
    this.#browsers = browsers;
    this.#sharedPages = sharedPages;
    this.#readsWords = readsWords;
  }

  /** Captures once, or twice when the request asks for it: then the second capture counts, unless it fails. */
  async capture(
    request: CaptureRequest,
    { batch = null, dialled }: Pick<CaptureManner, 'batch' | 'dialled'>,
    deadline: Deadline,
  ): Promise<Snapshot> {
    this.#dialled = dialled;
    const group = groupOf(request, batch);
    const first = await this.#capture(request, group, deadline);
    if (!mayShowMore(first, request, deadline)) return first;
    await deadline.step('end the first attempt', this.#disposed);
    try {
      return await this.#capture(request, group, deadline);
    } catch (error) {
      if (error instanceof CapstanError && error.code === 'cancelled') throw error;
      return first;
    }
  }

  /** Captures once. Repeats a capture whose browser or page ended, in a browser of its own. */
  async #capture(request: CaptureRequest, group: string | undefined, deadline: Deadline): Promise<Snapshot> {
    try {
      return await (group === undefined
        ? this.#captureOn(captureShared, this.#means(request), request, deadline)
        : this.#captureOnSharedPage(group, request, deadline));
    } catch (error) {
      if (!mayBeInnocent(error)) throw error;
      await deadline.step('end the first attempt', this.#disposed);
      // So one page cannot make the captures of others fail again and again.
      return await this.#captureOn(captureAlone, this.#means(request), request, deadline);
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

  #captureOn(
    captureOn: typeof captureShared | typeof captureAlone,
    means: CaptureMeans,
    request: CaptureRequest,
    deadline: Deadline,
  ): CaptureUnderWay['snapshot'] {
    const { snapshot, disposed } = captureOn(means, request, deadline);
    this.#disposed = disposed.catch(() => undefined);
    return snapshot;
  }

  #means(request: CaptureRequest): CaptureMeans {
    return {
      ...(isInteractive(request)
        ? { browserPool: this.#browsers.interactive, open: openInteractivePage }
        : { browserPool: this.#browsers.plain, open: openPage }),
      egressProxy: this.#connectProxy(request),
      readsWords: this.#readsWords,
    };
  }

  /** Captures on a page that an earlier capture of the group left, or on a new one. Leaves the page for a later one. */
  async #captureOnSharedPage(group: string, request: CaptureRequest, deadline: Deadline): Promise<Snapshot> {
    const taking = this.#sharedPages.take(group);
    const shared = await deadline.step('wait for a shared page', taking).catch((error: unknown) => {
      this.#sharedPages.put(group, taking);
      throw error;
    });
    let left = shared?.page;
    if (shared !== undefined) {
      void this.close();
      // The page's context can use only this proxy.
      this.#egressProxy = Promise.resolve(shared.egressProxy);
    }
    const keep: Sharing['keep'] = async (leave) => {
      const egressProxy = await this.#egressProxy;
      if (egressProxy === null) throw new TypeError('a page was open without its egress proxy');
      this.#egressProxy = null;
      egressProxy.end();
      const waiting = leave((request) => untilSilent(egressProxy, request)).then(async (page) => {
        if (page !== undefined) return { page, egressProxy };
        await egressProxy.close();
        return undefined;
      });
      this.#sharedPages.put(group, waiting);
      await waiting;
    };
    const means: CaptureMeans = {
      browserPool: this.#browsers.plain,
      wanted: left?.host,
      egressProxy: this.#connectProxy(request),
      readsWords: this.#readsWords,
      open: (host, ...others) => {
        const page = left?.host === host ? left : undefined;
        if (page !== undefined) left = undefined;
        return openPage(host, ...others, { page, keep });
      },
    };
    const snapshot = this.#captureOn(captureShared, means, request, deadline);
    // A page is unusable when its browser could not be leased.
    this.#disposed = this.#disposed.then(() => left?.dispose());
    return await snapshot;
  }

  /**
   * Returns the egress proxy without traces of the previous capture, connected through the request's proxy if it names
   * one. For a page that has no network, it accepts no connection.
   */
  async #connectProxy(request: CaptureRequest): Promise<EgressProxy> {
    // Opened on first use, because generic-pool would call a `create` that rejects again at once, without end.
    this.#egressProxy ??= this.#egress.openEgressProxy();
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

/** Number of requests of our own in a row during which no other connection may come. */
const SILENT_ROUNDS = 2;

/**
 * See `Silence`. Beacons and other requests that outlive their document wait for a connection, and each connection that
 * is closed lets the next one try. `request` connects once, after those that wait.
 */
async function untilSilent(egressProxy: EgressProxy, request: () => Promise<unknown>): Promise<void> {
  for (let silent = 0; silent < SILENT_ROUNDS; ) {
    const before = egressProxy.refused;
    await request();
    silent = egressProxy.refused - before > 1 ? 0 : silent + 1;
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
