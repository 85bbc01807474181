import type { Deadline } from '../capture/deadline.ts';
import type { CaptureRequest } from '../capture/request.ts';
import type { EgressProxy } from '../egress/egress.ts';
import type { ChildFrames } from './frames/child-frames.ts';
import type { MainFrame } from './frames/main-frame.ts';
import type { PageSession } from './frames/page-session.ts';
import type { PageSetUp } from './set-up.ts';

/** A page in a browser context that no other capture uses meanwhile, set up for one request (`setUpPage`). */
export interface IsolatedPage extends Omit<PageSetUp, 'done'> {
  /** Its only way to the network. */
  readonly egressProxy: EgressProxy;
  readonly session: PageSession;
  /**
   * Returns another session of the page, which emulates nothing itself; the page stays as `session` emulates it.
   * Rejects with a `CdpClosedError` when the page is gone.
   */
  unemulated(): Promise<PageSession>;
  readonly frame: MainFrame;
  readonly frames: ChildFrames;
  /** Resolves with the name of a file when the page offers one for download. */
  readonly download: Promise<string>;
  /** Present only when Playwright drives the page. */
  readonly interaction?: Interaction;
  /** Keeps the page for another capture that shares it. Present only when there may be one. */
  readonly keep?: () => Promise<void>;
  /** Disposes of the context with everything in it. Resolves also when the browser is gone. */
  dispose(): Promise<void>;
}

/** Performs actions on a page as a person would. */
export interface Interaction {
  /**
   * Performs the request's actions and fills in its form. Resolves with false when the waiting time was over first.
   * Throws `action_failed` when the page prevents an action.
   */
  act(request: CaptureRequest, deadline: Deadline): Promise<boolean>;
  /**
   * Resolves with whether `waitForFunction` became truthy before the waiting time was over. Throws `script_failed` for
   * a syntax error.
   */
  waitForFunction(source: string, deadline: Deadline): Promise<boolean>;
  /** Resolves with the roles, names and texts of the page as YAML. Rejects after this time. */
  ariaSnapshot(ms: number): Promise<string>;
}
