import type { Protocol } from 'devtools-protocol';
import type { ConnectOverCDPTransport } from 'playwright-core';
import { z } from 'zod';
import { CdpClosedError, type CdpConnection, CdpError, type CdpSession } from '../cdp/connection.ts';

const command = z.object({
  id: z.number(),
  method: z.string(),
  params: z.record(z.string(), z.unknown()).optional(),
  sessionId: z.string().optional(),
});
type Command = z.infer<typeof command>;

const attached = z.object({ sessionId: z.string() });

/**
 * Of a page's targets Playwright is shown those that are paused for it, and lets them run. Service workers are not: they
 * stay paused, by us.
 */
const FRAMES_AND_WORKERS = [{ type: 'iframe' }, { type: 'worker' }, { exclude: true }];

/** As Chromium answers a command for a session that is gone; Playwright knows the code. */
const GONE = { code: -32_001, message: 'Session with given id not found.' };

/**
 * What Playwright takes for a browser: one page, as it is, in a session beside ours, and nothing else. Whatever it
 * does or is made to do, it opens no page, changes no setting of the browser, and reaches no other capture.
 */
export class PageTransport implements ConnectOverCDPTransport {
  onmessage?: (message: object) => void;
  onclose?: (reason?: string) => void;
  readonly #connection: CdpConnection;
  readonly #page: Protocol.Target.TargetInfo;
  readonly #pageSession: CdpSession;
  readonly #sessions = new Map<string, CdpSession>();

  constructor(connection: CdpConnection, page: Protocol.Target.TargetInfo, sessionId: string) {
    this.#connection = connection;
    this.#page = page;
    this.#pageSession = this.#show(sessionId);
  }

  send(message: object): void {
    const sent = command.parse(message);
    const session = sent.sessionId === undefined ? undefined : this.#sessions.get(sent.sessionId);
    if (session !== undefined) this.#pass(sent, session);
    else if (sent.sessionId === undefined) this.#answerForBrowser(sent);
    else this.#tell({ sessionId: sent.sessionId, id: sent.id, error: GONE });
  }

  /** Leaves the page. What Playwright still awaits of it is rejected. */
  close(): void {
    if (this.#sessions.size === 0) return;
    const left = [...this.#sessions.values()];
    this.#sessions.clear();
    this.#connection.root.post('Target.detachFromTarget', { sessionId: this.#pageSession.id });
    this.onclose?.();
    for (const session of left) this.#connection.drop(session);
  }

  #answerForBrowser({ id, method }: Command): void {
    if (method === 'Browser.getVersion') {
      this.#pass({ id, method }, this.#connection.root);
      return;
    }
    if (method === 'Target.setAutoAttach') {
      const params = { sessionId: this.#pageSession.id, targetInfo: this.#page, waitingForDebugger: false };
      this.#tell({ method: 'Target.attachedToTarget', params });
    }
    this.#tell({ id, result: {} });
  }

  #pass({ id, method, params, sessionId }: Command, session: CdpSession): void {
    const filter = method === 'Target.setAutoAttach' ? { filter: FRAMES_AND_WORKERS } : {};
    session.relay(
      method,
      { ...params, ...filter },
      (result) => this.#tell({ sessionId, id, result }),
      (error) => {
        this.#tell({ sessionId, id, error: error instanceof CdpError ? { message: error.text } : GONE });
        // Behind the answer, and never while it is being asked: Playwright would wait for one for ever.
        if (error instanceof CdpClosedError && session === this.#pageSession) setImmediate(() => this.close());
      },
    );
  }

  /** Playwright hears all of a session, and of those that open within it. Dialogs are answered by us alone. */
  #show(sessionId: string): CdpSession {
    const session = this.#connection.session(sessionId);
    this.#sessions.set(sessionId, session);
    session.tap((event, params) => {
      if (event.startsWith('Page.javascriptDialog')) return;
      if (event === 'Target.attachedToTarget') this.#show(attached.parse(params).sessionId);
      if (event === 'Target.detachedFromTarget') this.#sessions.delete(attached.parse(params).sessionId);
      this.#tell({ sessionId, method: event, params });
    });
    return session;
  }

  /** In the order in which it comes, and each in a turn of its own: Playwright counts on both. */
  #tell(message: object): void {
    setImmediate(() => this.onmessage?.(message));
  }
}
