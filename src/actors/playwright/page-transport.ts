import type { Protocol } from 'devtools-protocol';
import type { ConnectOverCDPTransport } from 'playwright';
import { z } from 'zod';
import { CdpClosedError, type CdpConnection, CdpError, type CdpSession } from '../../cdp/connection.ts';

const command = z.object({
  id: z.number(),
  method: z.string(),
  params: z.record(z.string(), z.unknown()).optional(),
  sessionId: z.string().optional(),
});
type Command = z.infer<typeof command>;

const attached = z.object({ sessionId: z.string() });

/** Types of targets that Playwright sees and resumes. Service workers are excluded and stay paused. */
const FRAMES_AND_WORKERS = [{ type: 'iframe' }, { type: 'worker' }, { exclude: true }];

/** Chromium's error code for a command to a session that has ended, which Playwright knows. */
const GONE = { code: -32_001, message: 'Session with given id not found.' };

/**
 * Appears to Playwright as a browser with one page, which has its own session in addition to ours. Playwright cannot
 * open pages, change browser settings or reach other captures through it.
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

  /** Detaches from the page. Pending commands of Playwright are rejected. */
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
        // Sent after the answer and never during the command, because Playwright would wait forever.
        if (error instanceof CdpClosedError && session === this.#pageSession) setImmediate(() => this.close());
      },
    );
  }

  /** Playwright receives all events of a session and of its nested sessions. Dialogs are answered by us only. */
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

  /** Delivers messages in order of arrival, each in a macrotask of its own: Playwright depends on both. */
  #tell(message: object): void {
    setImmediate(() => this.onmessage?.(message));
  }
}
