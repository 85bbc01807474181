import type { Protocol } from 'devtools-protocol';
import type { CaptureRequest } from '../../capture/request.ts';
import { networkBuffers } from '../evidence/network-buffers.ts';
import type { PageSession } from '../frames/page-session.ts';

/** Requests that stay open while the page is complete, or that change nothing in it. */
const NOT_AWAITED: ReadonlySet<Protocol.Network.ResourceType> = new Set([
  'EventSource',
  'WebSocket',
  'Media',
  'Ping',
  'Prefetch',
  'CSPViolationReport',
]);

/**
 * Requests in flight of a page, of the frames in its process and of its workers. Created before the page navigates.
 */
export class RequestsInFlight {
  readonly #session: PageSession;
  readonly #buffers: Protocol.Network.EnableRequest;
  /** Requests in flight, by request id. */
  readonly #open = new Map<string, { readonly url: string; readonly frameId: string | undefined }>();
  readonly #workers: PageSession[] = [];
  #started = 0;
  #watching = false;
  #waiting: (() => void)[] = [];

  constructor(session: PageSession, request: CaptureRequest) {
    this.#session = session;
    this.#buffers = networkBuffers(request);
    // Measured: Network.enable from the start costs 4 % of a capture's CPU time, so other wait options do not pay for
    // it.
    if (request.waitUntil === 'settled') this.watch();
  }

  /** Starts to watch. Requests made before this call are not known. */
  watch(): void {
    if (this.#watching) return;
    this.#watching = true;
    const session = this.#session;
    for (const each of [session, ...this.#workers]) this.#follow(each);
    // The end of a request is not reported when its frame is removed or continues in another process.
    session.on('Page.frameDetached', ({ frameId }) => {
      for (const [requestId, request] of this.#open) if (request.frameId === frameId) this.#end(requestId);
    });
    // A document made by XSLT takes the place of its source, and the end of the style sheet's request is not reported.
    session.on('Page.lifecycleEvent', ({ frameId, loaderId, name }) => {
      if (name !== 'init') return;
      for (const [requestId, request] of this.#open) {
        if (request.frameId === frameId && requestId !== loaderId) this.#end(requestId);
      }
    });
    // A document's requests end with it; their ends are not always reported.
    session.on('Page.frameNavigated', ({ frame }) => {
      if (frame.parentId !== undefined) return;
      this.#open.clear();
      this.#tell();
    });
  }

  /** Adds a dedicated worker before it runs. Chromium does not report to the page that the worker's script loaded. */
  addWorker(worker: PageSession, scriptUrl: string): void {
    this.#workers.push(worker);
    if (this.#watching) this.#follow(worker);
    for (const [requestId, { url }] of this.#open) if (url === scriptUrl) this.#end(requestId);
  }

  /** Requests made so far. */
  get started(): number {
    return this.#started;
  }

  /** Requests in flight. */
  get count(): number {
    return this.#open.size;
  }

  /** Resolves when no request is in flight. */
  async ended(): Promise<void> {
    while (this.#open.size > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #follow(session: PageSession): void {
    session.on('Network.requestWillBeSent', ({ requestId, frameId, request, type = 'Other' }) => {
      if (NOT_AWAITED.has(type) || request.url.startsWith('data:')) return;
      this.#started += 1;
      this.#open.set(requestId, { url: request.url, frameId });
    });
    session.on('Network.loadingFinished', ({ requestId }) => this.#end(requestId));
    session.on('Network.loadingFailed', ({ requestId }) => this.#end(requestId));
    session.post('Network.enable', this.#buffers);
  }

  #end(requestId: string): void {
    if (this.#open.delete(requestId)) this.#tell();
  }

  #tell(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resume of waiting) resume();
  }
}
