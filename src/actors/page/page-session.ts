import type { Protocol } from 'devtools-protocol';
import type { ProtocolMapping } from 'devtools-protocol/types/protocol-mapping.d.ts';

type Commands = ProtocolMapping.Commands;
type Events = ProtocolMapping.Events;

/** The protocol session of a page, whichever driver opened it. */
export interface PageSession {
  /** Rejects with a `CdpError` when Chromium refuses, with a `CdpClosedError` when the page or the browser ends. */
  send<M extends keyof Commands>(method: M, ...params: Commands[M]['paramsType']): Promise<Commands[M]['returnType']>;
  /** Like `send`; rejects with a `CdpError` when the answer is larger than 4 MiB. */
  sendForShort<M extends keyof Commands>(
    method: M,
    ...params: Commands[M]['paramsType']
  ): Promise<Commands[M]['returnType']>;
  /** Takes a screenshot of the page. Rejects as `send` does. */
  shoot(params: Protocol.Page.CaptureScreenshotRequest): Promise<Buffer>;
  /** Archives the page as MHTML. Rejects as `send` does. */
  archive(): Promise<Buffer>;
  /** Sends a command without waiting; its answer, including an error, is dropped. */
  post<M extends keyof Commands>(method: M, ...params: Commands[M]['paramsType']): void;
  /** Listens to an event until the returned function is called. */
  on<E extends keyof Events>(event: E, handler: (...params: Events[E]) => void): () => void;
}

/** A frame, and the session of the process that it runs in. */
export interface EvaluatedFrame {
  readonly session: PageSession;
  readonly frame: { readonly id: string };
}
