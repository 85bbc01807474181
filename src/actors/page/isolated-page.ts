import type { Protocol } from 'devtools-protocol';
import type { ProtocolMapping } from 'devtools-protocol/types/protocol-mapping.d.ts';
import type { CaptureRequest } from '../../capture/request.ts';
import type { Deadline } from '../deadline.ts';
import type { ChildFrames } from './child-frames.ts';
import type { Notes } from './evidence/notes.ts';
import type { MainFrame } from './main-frame.ts';
import type { Visit } from './prepare-page.ts';
import type { RequestsInFlight } from './wait/requests-in-flight.ts';

type Commands = ProtocolMapping.Commands;
type Events = ProtocolMapping.Events;

/** The protocol's side of a page, whoever opened it. */
export interface PageSession {
  /** Rejects with a `CdpError` when Chromium refuses, with a `CdpClosedError` when the page or the browser ends. */
  send<M extends keyof Commands>(method: M, ...params: Commands[M]['paramsType']): Promise<Commands[M]['returnType']>;
  /** The screenshot of the page. Rejects as `send` does. */
  shoot(params: Protocol.Page.CaptureScreenshotRequest): Promise<Buffer>;
  /** Sends without waiting; whatever is answered, errors among it, is dropped. */
  post<M extends keyof Commands>(method: M, ...params: Commands[M]['paramsType']): void;
  /** Listens to an event until the returned function is called. */
  on<E extends keyof Events>(event: E, handler: (...params: Events[E]) => void): () => void;
}

/** A page in a browser context that nobody else has, or ever had. It is set up for one request (`setUpPage`). */
export interface IsolatedPage {
  readonly session: PageSession;
  readonly frame: MainFrame;
  readonly frames: ChildFrames;
  readonly notes: Notes;
  readonly visit: Visit;
  readonly requests: RequestsInFlight;
  /** Resolves with the name of the file that was offered for download, once one is. */
  readonly download: Promise<string>;
  /** Can do what a person would do; only where Playwright drives. */
  readonly interaction?: Interaction;
  /** Ends the context and all that is in it. Resolves also when the browser is gone. */
  dispose(): Promise<void>;
}

/** What a page lets a person do with it. */
export interface Interaction {
  /**
   * Does the request's actions and fills in its form. Resolves with whether that was done before no more time was to be
   * spent on waiting; throws `action_failed`.
   */
  act(request: CaptureRequest, deadline: Deadline): Promise<boolean>;
  /**
   * Resolves with whether `waitForFunction` held before no more time was to be spent on waiting; throws `script_failed`
   * when it cannot be read.
   */
  waitForFunction(source: string, deadline: Deadline): Promise<boolean>;
}
