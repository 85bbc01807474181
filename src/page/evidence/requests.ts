import type { Protocol } from 'devtools-protocol';
import type { Noted, NotedRequest } from '../../capture/evidence.ts';
import type { CaptureRequest } from '../../capture/request.ts';
import { VIEWER_ORIGIN } from '../non-html/viewer-page.ts';
import type { PageSession } from '../page-session.ts';
import { bounded } from './bounded.ts';
import { EarlyHints, MAX_BASE_CHARACTERS } from './early-hints.ts';
import { networkBuffers } from './network-buffers.ts';

const MAX_REQUESTS = 500;
const MAX_URL_CHARACTERS = 1024;
const MAX_WORD_CHARACTERS = 64;
const MAX_FAILURE_CHARACTERS = 256;

type Entry = { -readonly [key in keyof NotedRequest]: NotedRequest[key] } & {
  /** Start time in seconds, on the browser's monotonic clock; NaN when unknown. */
  readonly startedAt: number;
  /** URL that early hints are relative to, which `url` may cut; undefined when it is too long. */
  readonly base: string | undefined;
};

/** Records the requests of the page, of its frames and of its workers, up to a maximum. */
export class Requests {
  readonly #buffers: Protocol.Network.EnableRequest;
  readonly #entries: Entry[] = [];
  #omitted = 0;
  /** Requests in progress, by the browser's id. */
  readonly #open = new Map<string, Entry>();
  /** The session that reported a request first, by the browser's id: two may report the script of a worker. */
  readonly #reporters = new Map<string, PageSession>();
  readonly #hints = new EarlyHints();
  /** Requests that the memory cache answers, whose responses have the size of the first transfer. */
  readonly #cached = new WeakSet<Entry>();

  constructor(request: CaptureRequest) {
    this.#buffers = networkBuffers(request);
  }

  /** Records the requests of a session. Resolves when the browser reports them. */
  follow(session: PageSession): Promise<unknown> {
    session.on('Network.requestWillBeSent', ({ requestId, request, type, timestamp, redirectResponse }) => {
      // Requests of the PDF viewer, which never reach a network.
      if (request.url.startsWith(`${VIEWER_ORIGIN}/`)) return;
      const reporter = this.#reporters.get(requestId) ?? session;
      if (reporter !== session && redirectResponse === undefined) return;
      const hop = this.#open.get(requestId);
      if (hop !== undefined && redirectResponse !== undefined) {
        hop.status = redirectResponse.status;
        hop.bytes = redirectResponse.encodedDataLength;
        this.#end(requestId, timestamp);
      }
      const { method, url } = request;
      this.#begin(session, requestId, { method, url, type: type ?? 'Other' }, timestamp);
    });
    session.on('Network.requestServedFromCache', ({ requestId }) => {
      const entry = this.#open.get(requestId);
      if (entry !== undefined) this.#cached.add(entry);
    });
    session.on('Network.responseReceived', ({ requestId, type, response }) => {
      const entry = this.#open.get(requestId);
      if (entry === undefined) return;
      entry.type = type.toLowerCase();
      entry.status = response.status;
      entry.bytes = this.#cached.has(entry) ? 0 : response.encodedDataLength;
    });
    session.on('Network.dataReceived', ({ requestId, encodedDataLength }) => {
      const entry = this.#open.get(requestId);
      if (entry !== undefined) entry.bytes += encodedDataLength;
    });
    session.on('Network.loadingFinished', ({ requestId, timestamp, encodedDataLength }) => {
      const entry = this.#open.get(requestId);
      if (entry !== undefined) entry.bytes = Math.max(entry.bytes, Math.round(encodedDataLength));
      this.#end(requestId, timestamp);
    });
    session.on('Network.loadingFailed', ({ requestId, timestamp, errorText }) => {
      this.#fail(requestId, errorText.replace('net::', ''));
      this.#end(requestId, timestamp);
    });
    this.#hints.follow(
      session,
      (requestId) => this.#open.get(requestId)?.base,
      (url) => void this.#add({ method: 'GET', url, type: 'Preload' }, undefined),
    );
    session.on('Network.webSocketCreated', ({ requestId, url }) => {
      this.#begin(session, requestId, { method: 'GET', url, type: 'WebSocket' }, undefined);
    });
    session.on('Network.webSocketHandshakeResponseReceived', ({ requestId, response }) => {
      const entry = this.#open.get(requestId);
      if (entry !== undefined) entry.status = response.status;
    });
    session.on('Network.webSocketFrameError', ({ requestId, errorMessage }) => this.#fail(requestId, errorMessage));
    session.on('Network.webSocketClosed', ({ requestId }) => this.#open.delete(requestId));
    return session.send('Network.enable', this.#buffers);
  }

  get noted(): Noted<NotedRequest> {
    const first = this.#entries.find(({ startedAt }) => !Number.isNaN(startedAt))?.startedAt ?? 0;
    const items = this.#entries.map(({ startedAt, base: _, ...noted }) => ({
      ...noted,
      start_ms: Number.isNaN(startedAt) ? null : Math.max(0, Math.round((startedAt - first) * 1000)),
    }));
    return { items, omitted: this.#omitted };
  }

  #begin(
    session: PageSession,
    requestId: string,
    asked: Pick<NotedRequest, 'method' | 'url' | 'type'>,
    startedAt: number | undefined,
  ): void {
    const entry = this.#add(asked, startedAt);
    if (entry === undefined) return;
    this.#open.set(requestId, entry);
    this.#reporters.set(requestId, session);
  }

  /** Returns undefined when the request is not listed. */
  #add(
    { method, url, type }: Pick<NotedRequest, 'method' | 'url' | 'type'>,
    startedAt: number | undefined,
  ): Entry | undefined {
    // Data and blob URLs use no network.
    if (url.startsWith('data:') || url.startsWith('blob:')) return undefined;
    if (this.#entries.length >= MAX_REQUESTS) {
      this.#omitted += 1;
      return undefined;
    }
    const entry: Entry = {
      method: bounded(method, MAX_WORD_CHARACTERS),
      url: bounded(url, MAX_URL_CHARACTERS),
      type: type.toLowerCase(),
      status: 0,
      bytes: 0,
      time_ms: null,
      failure: '',
      startedAt: startedAt ?? Number.NaN,
      base: url.length <= MAX_BASE_CHARACTERS ? url : undefined,
    };
    this.#entries.push(entry);
    return entry;
  }

  #fail(requestId: string, why: string): void {
    const entry = this.#open.get(requestId);
    if (entry !== undefined) entry.failure = bounded(why, MAX_FAILURE_CHARACTERS);
  }

  #end(requestId: string, at: number): void {
    const entry = this.#open.get(requestId);
    if (entry === undefined) return;
    entry.time_ms = Math.max(0, Math.round((at - entry.startedAt) * 1000));
    this.#open.delete(requestId);
  }
}
