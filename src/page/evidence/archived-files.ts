import type { Protocol } from 'devtools-protocol';
import { bounded } from '../../capture/basics/bounded.ts';
import type { CaptureRequest } from '../../capture/request.ts';
import type { PageSession } from '../frames/page-session.ts';
import { type Body, BodyReader } from './body-reader.ts';
import { ARCHIVED_BODIES, networkBuffers } from './network-buffers.ts';

const MAX_FILES = 300;
/**
 * Maximum number of requests in flight that are followed: a page can begin any number that its own policy then blocks.
 */
const MAX_OPEN = 1_000;
const MAX_URL_CHARACTERS = 2_048;
const MAX_TYPE_CHARACTERS = 128;

/** A file of the page. */
export interface ArchivedFile {
  readonly kind: 'Stylesheet' | 'Font' | 'Image';
  readonly url: string;
  readonly type: string;
  readonly body: Body;
}

interface Requested {
  readonly url: string;
  file?: Omit<ArchivedFile, 'body'>;
  bytes: number;
}

/** Keeps the style sheets and fonts that the page loads, as they were sent, for the output `mhtml`. */
export class ArchivedFiles {
  readonly #buffers: Protocol.Network.EnableRequest;
  readonly #bodies = new BodyReader(ARCHIVED_BODIES);
  readonly #open = new Map<string, Requested>();
  readonly #files = new Map<string, Requested>();

  constructor(request: CaptureRequest) {
    this.#buffers = networkBuffers(request);
  }

  /** Resolves when the browser reports the requests of a session. */
  follow(session: PageSession): Promise<unknown> {
    session.on('Network.requestWillBeSent', ({ requestId, request: { url }, type }) => {
      if (this.#open.size >= MAX_OPEN) return;
      const isKept = (type === 'Stylesheet' || type === 'Font') && url.length <= MAX_URL_CHARACTERS;
      // After a redirect, a file is still found by the URL that the page names.
      if (isKept && /^https?:/.test(url) && !this.#open.has(requestId)) this.#open.set(requestId, { url, bytes: 0 });
    });
    session.on('Network.responseReceived', ({ requestId, response, type: kind }) => {
      const requested = this.#open.get(requestId);
      if (requested === undefined || response.status >= 400 || (kind !== 'Stylesheet' && kind !== 'Font')) return;
      requested.file = { kind, url: requested.url, type: bounded(response.mimeType, MAX_TYPE_CHARACTERS) };
    });
    session.on('Network.loadingFailed', ({ requestId }) => this.#open.delete(requestId));
    session.on('Network.dataReceived', ({ requestId, dataLength }) => {
      const requested = this.#open.get(requestId);
      if (requested !== undefined) requested.bytes += dataLength;
    });
    session.on('Network.loadingFinished', ({ requestId }) => {
      const requested = this.#open.get(requestId);
      this.#open.delete(requestId);
      if (requested?.file === undefined || this.#files.size >= MAX_FILES || this.#files.has(requested.url)) return;
      this.#files.set(requested.url, requested);
      this.#bodies.read(requested, session, requestId, requested.bytes);
    });
    return session.send('Network.enable', this.#buffers);
  }

  /** Resolves with the files that were kept; awaits them at most this long. */
  async all(ms: number): Promise<readonly ArchivedFile[]> {
    await this.#bodies.settled(ms);
    return [...this.#files.values()].flatMap((requested) => {
      const body = this.#bodies.bodyOf(requested);
      return requested.file === undefined || body.text === undefined ? [] : [{ ...requested.file, body }];
    });
  }
}
