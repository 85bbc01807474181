import type { Deadline } from '../capture/deadline.ts';
import { CapstanError } from '../capture/errors.ts';
import type { CaptureRequest } from '../capture/request.ts';
import type { Snapshot } from '../capture/snapshot.ts';
import { CdpClosedError } from '../cdp/connection.ts';
import type { EgressProxy } from '../egress/egress.ts';
import type { IsolatedPage } from '../page/isolated-page.ts';
import type { BrowserHost } from './browser-host.ts';
import type { BrowserLease, BrowserPool } from './browser-pool.ts';
import { capturePage, type PageReading } from './capture-page.ts';
import type { PageOpening } from './direct/open-page.ts';

/** The browsers, the page and the proxy that a capture uses. */
export interface CaptureMeans extends PageReading {
  readonly browserPool: BrowserPool;
  /** The browser with the shared page; undefined: any browser of the pool. */
  readonly wanted?: BrowserHost | undefined;
  /** Opens a page in a browser of the pool. */
  readonly open: (...args: PageOpening) => Promise<IsolatedPage>;
  readonly egressProxy: Promise<EgressProxy>;
}

/** A capture under way. `disposed` resolves when the page is closed and the browser's lease is released. */
export interface CaptureUnderWay {
  readonly snapshot: Promise<Snapshot>;
  readonly disposed: Promise<unknown>;
}

/** Captures in a browser that other captures share. */
export function captureShared(means: CaptureMeans, request: CaptureRequest, deadline: Deadline): CaptureUnderWay {
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
export function captureAlone(means: CaptureMeans, request: CaptureRequest, deadline: Deadline): CaptureUnderWay {
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
  { open, egressProxy: opening, readsWords }: CaptureMeans,
  request: CaptureRequest,
  deadline: Deadline,
) {
  return deadline.step('find a browser', Promise.all([leasing, opening])).then(([lease, egressProxy]) =>
    capturePage((over) => open(lease.host, egressProxy.proxyServer, request, over), egressProxy, request, deadline, {
      readsWords,
    }),
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
