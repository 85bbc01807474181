import type { ProtocolMapping } from 'devtools-protocol/types/protocol-mapping.js';
import type { PageSession } from '../frames/page-session.ts';
import { EarlyHints } from './early-hints.ts';

/** Maximum number of requests that are awaited after their headers. */
const MAX_EARLY = 100;

type Events = ProtocolMapping.Events;
type RequestEvent = { [E in keyof Events]: Events[E] extends [{ requestId: string }] ? E : never }[keyof Events];
type HeaderEvent = 'Network.requestWillBeSentExtraInfo' | 'Network.responseReceivedExtraInfo';

/**
 * The noted requests of all sessions of a capture, by the browser's ids. Redirects keep the id, and two sessions may
 * report one request: the document of a frame in another process, the script of a worker.
 */
export class OpenRequests<R> {
  readonly #open = new Map<string, R>();
  readonly #reporters = new Map<string, PageSession>();
  readonly #hints = new EarlyHints();
  /** Headers that came before their requests, by the ids of these. */
  readonly #early = new Map<string, ((request: R) => void)[]>();

  get(requestId: string): R | undefined {
    return this.#open.get(requestId);
  }

  /** Whether another session has reported a request before. */
  isRepeated(session: PageSession, requestId: string): boolean {
    return (this.#reporters.get(requestId) ?? session) !== session;
  }

  begin(session: PageSession, requestId: string, request: R): void {
    this.#open.set(requestId, request);
    this.#reporters.set(requestId, session);
    for (const change of this.#early.get(requestId) ?? []) change(request);
    this.#early.delete(requestId);
  }

  end(requestId: string): void {
    this.#open.delete(requestId);
  }

  /** Calls `change` for each event of a session that is about an open request. */
  on<E extends RequestEvent>(session: PageSession, event: E, change: (request: R, about: Events[E][0]) => void): void {
    session.on(event, (...[about]: Events[E]) => {
      const request = this.#open.get(about.requestId);
      if (request !== undefined) change(request, about);
    });
  }

  /**
   * As `on`, for headers on the wire, which may come before their request: the browser's process reports them, and the
   * page's process the request. `read` returns what to do with the request.
   */
  onHeaders<E extends HeaderEvent>(
    session: PageSession,
    event: E,
    read: (about: Events[E][0]) => (request: R) => void,
  ) {
    session.on(event, (...[about]: Events[E]) => {
      const { requestId } = about;
      const request = this.#open.get(requestId);
      if (request !== undefined) return read(about)(request);
      const early = this.#early.get(requestId) ?? [];
      if (early.length === 0 && this.#early.size >= MAX_EARLY) return;
      this.#early.set(requestId, [...early, read(about)]);
    });
  }

  /** Calls `note` with each URL that early hints of a session's documents name, and the request of the document. */
  onPreload(
    session: PageSession,
    urlOf: (request: R) => string | undefined,
    note: (url: string, document: R | undefined) => void,
  ): void {
    this.#hints.follow(
      session,
      (requestId) => {
        const document = this.#open.get(requestId);
        return document && urlOf(document);
      },
      (url, requestId) => note(url, this.#open.get(requestId)),
    );
  }
}
