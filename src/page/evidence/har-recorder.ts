import type { Protocol } from 'devtools-protocol';
import type { Entry, Log } from 'har-format';
import { bounded, instant } from '../../capture/basics/bounded.ts';
import type { CaptureRequest } from '../../capture/request.ts';
import { packageVersion } from '../../version.ts';
import type { PageSession } from '../frames/page-session.ts';
import { VIEWER_ORIGIN } from '../non-html/viewer-page.ts';
import { BodyReader } from './body-reader.ts';
import { entryOf, MAX_VALUE_CHARACTERS, MAX_WORD_CHARACTERS, NOT_MODIFIED, type Seen } from './har-entry.ts';
import { HAR_BODIES, networkBuffers, recordsBodies } from './network-buffers.ts';
import { OpenRequests } from './open-requests.ts';
import { postedBody, types } from './posted-body.ts';

const MAX_ENTRIES = 1_000;
/** Maximum number of characters of URLs and headers: a site can send 256 kB of headers with each answer. */
const MAX_CHARACTERS = 8 * 1024 * 1024;

/** Request headers whose values are left out, in addition to those of the capture's own `headers`. */
const WITHHELD_HEADERS = ['authorization', 'cookie', 'proxy-authorization'];

/** An archive, and its entries, which are written one by one: with bodies, they may be large. */
export interface Archive {
  readonly log: Omit<Log, 'entries'>;
  readonly entries: Iterable<Entry>;
  /** Whether a bound left out requests or bodies. */
  readonly partial: boolean;
}

/** Records the requests of the page, of its frames and of its workers, with their times. */
export class HarRecorder {
  readonly #withheld: ReadonlySet<string>;
  readonly #buffers: Protocol.Network.EnableRequest;
  readonly #bodies: BodyReader | undefined;
  readonly #types: boolean;
  readonly #seen: Seen[] = [];
  readonly #open = new OpenRequests<Seen>();
  #room = MAX_CHARACTERS;
  #isCut = false;
  #loadedAt: number | undefined;
  #parsedAt: number | undefined;

  constructor(session: PageSession, request: CaptureRequest) {
    const { headers = {} } = request;
    this.#withheld = new Set([...WITHHELD_HEADERS, ...Object.keys(headers).map((name) => name.toLowerCase())]);
    this.#buffers = networkBuffers(request);
    this.#bodies = recordsBodies(request) ? new BodyReader(HAR_BODIES) : undefined;
    this.#types = types(request);
    session.on('Page.domContentEventFired', ({ timestamp }) => {
      this.#parsedAt = timestamp;
    });
    session.on('Page.loadEventFired', ({ timestamp }) => {
      this.#loadedAt = timestamp;
    });
  }

  /** Records the requests of a session. Resolves when the browser reports them. */
  follow(session: PageSession): Promise<unknown> {
    const open = this.#open;
    session.on('Network.requestWillBeSent', (event) => this.#begin(session, event));
    open.onPreload(
      session,
      ({ request }) => request.url,
      (url, document) => {
        // HAR requires a time, and the browser reports none for a preload: this is the time of the document's request.
        const { startedAt = 0, wallTime = 0 } = document ?? {};
        this.#add({ request: { method: 'GET', url, headers: {} }, posted: undefined, startedAt, wallTime });
      },
    );
    open.onHeaders(session, 'Network.requestWillBeSentExtraInfo', ({ headers }) => {
      const sent = this.#kept(headers);
      return (seen) => {
        seen.sent = sent;
      };
    });
    open.on(session, 'Network.requestServedFromCache', (seen) => {
      seen.cache = 'memory';
    });
    open.on(session, 'Network.responseReceived', (seen, { response }) => this.#respond(seen, response));
    open.onHeaders(session, 'Network.responseReceivedExtraInfo', ({ headers, statusCode }) => {
      const received = this.#kept(headers);
      return (seen) => {
        seen.received = received;
        seen.isUnchanged = statusCode === NOT_MODIFIED;
      };
    });
    open.on(session, 'Network.dataReceived', (seen, { dataLength, encodedDataLength }) => {
      seen.size += dataLength;
      seen.bodyBytes += encodedDataLength;
    });
    open.on(session, 'Network.loadingFinished', (seen, { requestId, timestamp, encodedDataLength }) => {
      // Not all bytes of a body are reported one by one. Without a body, the rest is the end of its transfer coding.
      if (seen.size > 0) seen.bodyBytes = Math.max(seen.bodyBytes, encodedDataLength - seen.headBytes);
      seen.endedAt = timestamp;
      this.#bodies?.read(seen, session, requestId, seen.size);
    });
    open.on(session, 'Network.loadingFailed', (seen, { timestamp, errorText }) => {
      seen.failure = errorText;
      seen.endedAt = timestamp;
    });
    return session.send('Network.enable', this.#buffers);
  }

  /**
   * Returns the archive of the page with this title, its entries apart, and whether requests or bodies are missing in
   * it. Awaits bodies at most this long.
   */
  async archive(title: string, ms: number): Promise<Archive> {
    await this.#bodies?.settled(ms);
    const [first] = this.#seen;
    const since = (at: number | undefined) =>
      at === undefined || first === undefined ? -1 : Math.max(0, (at - first.startedAt) * 1000);
    const page = {
      id: 'page_1',
      startedDateTime: instant(first?.wallTime ?? 0),
      title: bounded(title, MAX_VALUE_CHARACTERS),
      pageTimings: { onContentLoad: since(this.#parsedAt), onLoad: since(this.#loadedAt) },
    };
    return {
      log: { version: '1.2', creator: { name: 'capstan', version: packageVersion() }, pages: [page] },
      entries: this.#seen
        .values()
        .map((seen) => entryOf(seen, { pageref: page.id, withheld: this.#withheld, bodies: this.#bodies })),
      partial: this.#isCut || this.#bodies?.omitted === true,
    };
  }

  #begin(
    session: PageSession,
    { requestId, request, timestamp, wallTime, redirectResponse }: Protocol.Network.RequestWillBeSentEvent,
  ) {
    const { url } = request;
    if (/^(?:data|blob|about):/.test(url) || url.startsWith(`${VIEWER_ORIGIN}/`)) return;
    const before = this.#open.get(requestId);
    if (redirectResponse === undefined && this.#open.isRepeated(session, requestId)) return;
    if (before !== undefined && redirectResponse !== undefined) {
      this.#respond(before, redirectResponse);
      before.endedAt = timestamp;
    }
    const { method, headers } = request;
    const posted = this.#bodies === undefined ? undefined : postedBody(request, this.#bodies, this.#types);
    const asked = { method: bounded(method, MAX_WORD_CHARACTERS), url, headers };
    const seen = this.#add({ request: asked, posted, startedAt: timestamp, wallTime });
    if (seen === undefined) this.#open.end(requestId);
    else this.#open.begin(session, requestId, seen);
  }

  /** Returns undefined when there is no room for the request. */
  #add(begun: Pick<Seen, 'request' | 'posted' | 'startedAt' | 'wallTime'>): Seen | undefined {
    const { url, headers } = begun.request;
    if (this.#seen.length >= MAX_ENTRIES || !this.#takes(url.length + sizeOf(headers))) {
      this.#isCut = true;
      return undefined;
    }
    const seen: Seen = { ...begun, size: 0, bodyBytes: 0, headBytes: 0, failure: '' };
    this.#seen.push(seen);
    return seen;
  }

  #respond(seen: Seen, response: Protocol.Network.Response): void {
    const { status, statusText, mimeType, protocol = '', timing, remoteIPAddress, headers } = response;
    seen.response = {
      status,
      statusText: bounded(statusText, MAX_WORD_CHARACTERS),
      mimeType: bounded(mimeType, MAX_WORD_CHARACTERS),
      headers: this.#kept(headers),
      protocol: bounded(protocol, MAX_WORD_CHARACTERS),
      timing,
      address: remoteIPAddress?.replace(/[[\]]/g, ''),
    };
    if (response.fromDiskCache === true) seen.cache = 'disk';
    // A response of the memory cache has the size of the first transfer.
    seen.headBytes = seen.cache === undefined ? response.encodedDataLength : 0;
  }

  /** Returns headers; none when there is no room for them. */
  #kept(headers: Protocol.Network.Headers): Protocol.Network.Headers {
    return this.#takes(sizeOf(headers)) ? headers : {};
  }

  #takes(characters: number): boolean {
    const isRoom = characters <= this.#room;
    if (isRoom) this.#room -= characters;
    else this.#isCut = true;
    return isRoom;
  }
}

function sizeOf(headers: Protocol.Network.Headers): number {
  return Object.entries(headers).reduce((sum, [name, value]) => sum + name.length + value.length, 0);
}
