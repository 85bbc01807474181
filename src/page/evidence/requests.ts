import type { Protocol } from 'devtools-protocol';
import { bounded } from '../../capture/basics/bounded.ts';
import type { CaptureRequest } from '../../capture/request.ts';
import type { Noted, NotedRequest } from '../../capture/result/evidence.ts';
import type { PageSession } from '../frames/page-session.ts';
import { VIEWER_ORIGIN } from '../non-html/viewer-page.ts';
import { MAX_BASE_CHARACTERS } from './early-hints.ts';
import { networkBuffers } from './network-buffers.ts';
import { OpenRequests } from './open-requests.ts';

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
  readonly #open = new OpenRequests<Entry>();
  /** Requests that the memory cache answers, whose responses have the size of the first transfer. */
  readonly #cached = new WeakSet<Entry>();

  constructor(request: CaptureRequest) {
    this.#buffers = networkBuffers(request);
  }

  /** Records the requests of a session. Resolves when the browser reports them. */
  follow(session: PageSession): Promise<unknown> {
    const open = this.#open;
    session.on('Network.requestWillBeSent', ({ requestId, request, type, timestamp, redirectResponse }) => {
      // Requests of the PDF viewer, which never reach a network.
      if (request.url.startsWith(`${VIEWER_ORIGIN}/`)) return;
      if (redirectResponse === undefined && open.isRepeated(session, requestId)) return;
      const hop = open.get(requestId);
      if (hop !== undefined && redirectResponse !== undefined) {
        hop.status = redirectResponse.status;
        hop.bytes = redirectResponse.encodedDataLength;
        this.#end(hop, requestId, timestamp);
      }
      const { method, url } = request;
      this.#begin(session, requestId, { method, url, type: type ?? 'Other' }, timestamp);
    });
    open.on(session, 'Network.requestServedFromCache', (entry) => void this.#cached.add(entry));
    open.on(session, 'Network.responseReceived', (entry, { type, response }) => {
      entry.type = type.toLowerCase();
      entry.status = response.status;
      entry.bytes = this.#cached.has(entry) ? 0 : response.encodedDataLength;
    });
    open.on(session, 'Network.dataReceived', (entry, { encodedDataLength }) => {
      entry.bytes += encodedDataLength;
    });
    open.on(session, 'Network.loadingFinished', (entry, { requestId, timestamp, encodedDataLength }) => {
      entry.bytes = Math.max(entry.bytes, Math.round(encodedDataLength));
      this.#end(entry, requestId, timestamp);
    });
    open.on(session, 'Network.loadingFailed', (entry, { requestId, timestamp, errorText }) => {
      entry.failure = bounded(errorText.replace('net::', ''), MAX_FAILURE_CHARACTERS);
      this.#end(entry, requestId, timestamp);
    });
    open.onPreload(
      session,
      ({ base }) => base,
      (url) => void this.#add({ method: 'GET', url, type: 'Preload' }, undefined),
    );
    session.on('Network.webSocketCreated', ({ requestId, url }) => {
      this.#begin(session, requestId, { method: 'GET', url, type: 'WebSocket' }, undefined);
    });
    open.on(session, 'Network.webSocketHandshakeResponseReceived', (entry, { response }) => {
      entry.status = response.status;
    });
    open.on(session, 'Network.webSocketFrameError', (entry, { errorMessage }) => {
      entry.failure = bounded(errorMessage, MAX_FAILURE_CHARACTERS);
    });
    session.on('Network.webSocketClosed', ({ requestId }) => open.end(requestId));
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
    if (entry !== undefined) this.#open.begin(session, requestId, entry);
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

  #end(entry: Entry, requestId: string, at: number): void {
    entry.time_ms = Math.max(0, Math.round((at - entry.startedAt) * 1000));
    this.#open.end(requestId);
  }
}
