import type { Protocol } from 'devtools-protocol';
import { bounded, instant } from '../../capture/basics/bounded.ts';
import { boundedChain } from '../../capture/result/certificate.ts';
import type { Noted, NotedHeader, NotedRedirect, NotedTls } from '../../capture/result/evidence.ts';
import type { PageSession } from '../frames/page-session.ts';
import { Tally } from './tally.ts';

const MAX_REDIRECTS = 100;
const MAX_HEADERS = 200;
const MAX_NAMES = 100;
const MAX_URL_CHARACTERS = 2048;
const MAX_NAME_CHARACTERS = 256;
const MAX_VALUE_CHARACTERS = 4096;
/** Number of documents whose responses are remembered. The page shows the last one or the one before it. */
const REMEMBERED_VISITS = 4;

/** A requested document. */
interface Visit {
  /** Its redirects, including the hop from the previous document. */
  readonly hops: NotedRedirect[];
  response?: Protocol.Network.Response;
  /** Headers as received, including those that scripts cannot read. */
  wire?: Pick<Protocol.Network.ResponseReceivedExtraInfoEvent, 'headers' | 'statusCode'>;
}

/**
 * Records how the page reached the document that it shows, and the response. Without `Network.enable`, the URL alone.
 */
export class MainDocument {
  readonly #session: PageSession;
  readonly #redirects = new Tally<NotedRedirect>(MAX_REDIRECTS);
  /** Requested documents by loader id, oldest first. */
  readonly #visits = new Map<string, Visit>();
  #frame: string | null = null;
  /** The document shown, and its URL. */
  #shown: { readonly loader: string; readonly url: string } | null = null;

  constructor(session: PageSession) {
    this.#session = session;
    session.on('Network.requestWillBeSent', (event) => this.#asked(event));
    session.on('Network.responseReceived', ({ requestId, response }) => {
      const visit = this.#visits.get(requestId);
      if (visit !== undefined) visit.response = response;
    });
    session.on('Network.responseReceivedExtraInfo', ({ requestId, headers, statusCode }) => {
      const visit = this.#visits.get(requestId);
      if (visit !== undefined) visit.wire = { headers, statusCode };
    });
    session.on('Page.frameNavigated', ({ frame }) => this.#came(frame));
  }

  /** Redirects to the document shown. */
  get redirects(): Noted<NotedRedirect> {
    return this.#redirects.noted;
  }

  /** Redirects to the document shown, followed by redirects that led to no document. */
  get redirectsTried(): Noted<NotedRedirect> {
    const { items, omitted } = this.#redirects.noted;
    const all = [...items, ...([...this.#visits.values()].at(-1)?.hops ?? [])];
    return { items: all.slice(0, MAX_REDIRECTS), omitted: omitted + Math.max(0, all.length - MAX_REDIRECTS) };
  }

  /** False when the response was not seen. */
  get hasHeaders(): boolean {
    return this.#visit?.response !== undefined;
  }

  get headers(): Noted<NotedHeader> {
    return headersOf(this.#visit);
  }

  /** Headers of the last answer, also of one that led to no document. */
  get headersTried(): Noted<NotedHeader> {
    return headersOf(this.#visitTried);
  }

  /** Status of the last answer, likewise; undefined when the browser reported none. */
  get statusTried(): number | undefined {
    return this.#visitTried?.response?.status;
  }

  /** Returns null when the document did not come over TLS. `chain` is that of `chain()`. */
  tls(chain: readonly string[], fingerprint: string): NotedTls | null {
    const details = this.#visit?.response?.securityDetails;
    if (details === undefined) return null;
    return {
      version: bounded(details.protocol, MAX_NAME_CHARACTERS),
      cipher: bounded(details.cipher, MAX_NAME_CHARACTERS),
      issuer: bounded(details.issuer, MAX_NAME_CHARACTERS),
      subject: bounded(details.subjectName, MAX_NAME_CHARACTERS),
      names: details.sanList.slice(0, MAX_NAMES).map((name) => bounded(name, MAX_NAME_CHARACTERS)),
      valid_from: instant(details.validFrom),
      valid_to: instant(details.validTo),
      fingerprint,
      chain,
    };
  }

  /**
   * Asks the browser for the certificates of the document's connection: in Base64 (DER), the document's own first. None
   * without TLS, or when the response was not seen: the browser tells them of requests that it reported alone.
   */
  async chain(): Promise<readonly string[]> {
    const url = this.#shown?.url ?? '';
    if (!this.hasHeaders || !url.startsWith('https:')) return [];
    const { tableNames } = await this.#session.send('Network.getCertificate', { origin: new URL(url).origin });
    return boundedChain(tableNames);
  }

  get #visit(): Visit | undefined {
    return this.#shown === null ? undefined : this.#visits.get(this.#shown.loader);
  }

  get #visitTried(): Visit | undefined {
    return [...this.#visits.values()].findLast(({ response }) => response !== undefined);
  }

  #asked({ requestId, loaderId, frameId, type, request, redirectResponse }: Protocol.Network.RequestWillBeSentEvent) {
    if (type !== 'Document' || requestId !== loaderId) return;
    // The first requested document is the page's own.
    this.#frame ??= frameId ?? null;
    if (frameId !== this.#frame) return;
    const visit = this.#visits.get(loaderId) ?? this.#begin(loaderId);
    const from = redirectResponse ?? (this.#shown === null ? undefined : { url: this.#shown.url, status: 0 });
    if (from === undefined || visit.hops.length >= MAX_REDIRECTS) return;
    visit.hops.push({
      url: bounded(from.url, MAX_URL_CHARACTERS),
      status: from.status,
      location: bounded(request.url, MAX_URL_CHARACTERS),
    });
  }

  #begin(loader: string): Visit {
    const visit: Visit = { hops: [] };
    this.#visits.set(loader, visit);
    const [oldest] = this.#visits.keys();
    if (this.#visits.size > REMEMBERED_VISITS && oldest !== undefined) this.#visits.delete(oldest);
    return visit;
  }

  /** Adds redirects only when their document has arrived, because redirects of a download lead to no document. */
  #came({ parentId, loaderId, url, unreachableUrl }: Protocol.Page.Frame): void {
    if (parentId !== undefined || unreachableUrl !== undefined) return;
    for (const hop of this.#visits.get(loaderId)?.hops.splice(0) ?? []) this.#redirects.note(hop);
    this.#shown = { loader: loaderId, url };
  }
}

function headersOf({ response, wire }: Visit | undefined = { hops: [] }): Noted<NotedHeader> {
  const tally = new Tally<NotedHeader>(MAX_HEADERS);
  // The raw headers may be those of a redirect when the last response came from elsewhere.
  const headers = wire?.statusCode === response?.status ? wire?.headers : response?.headers;
  for (const [name, value] of Object.entries(headers ?? {})) {
    tally.note({ name: bounded(name, MAX_NAME_CHARACTERS), value: bounded(value, MAX_VALUE_CHARACTERS) });
  }
  return tally.noted;
}
