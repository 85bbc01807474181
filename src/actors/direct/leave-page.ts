import { within } from '../../capture/deadline.ts';
import type { CdpSession } from '../../cdp/connection.ts';
import { evaluate } from '../../page/asking/ask-page.ts';
import { call } from '../../page/asking/page-scripts.ts';
import type { MainFrame } from '../../page/frames/main-frame.ts';
import type { BrowserHost } from '../browser-host.ts';

/** A page without a document or a session, in a context with what earlier captures left there. */
export interface BlankPage {
  readonly host: BrowserHost;
  readonly browserContextId: string;
  readonly targetId: string;
  /** Disposes of the context. Resolves also when the browser is gone. */
  dispose(): Promise<void>;
}

/** How a page is shared with the captures before and after this one. */
export interface Sharing {
  /** The page to use; undefined for a new one. */
  readonly page: BlankPage | undefined;
  /** Called when the capture has succeeded, with a function that makes the page leave its document. */
  readonly keep: (leave: Leave) => Promise<void>;
}

/**
 * Resolves when the page has left its document and its context is silent, or with undefined when that took too long and
 * the page was disposed of.
 */
export type Leave = (silence: Silence) => Promise<BlankPage | undefined>;

/**
 * Resolves when the context makes no further requests (all are refused). `request` makes a request of the context, and
 * resolves when that has failed.
 */
export type Silence = (request: () => Promise<unknown>) => Promise<void>;

/**
 * Time limit for a page to leave its document, and for what is still to be sent of it, in milliseconds. After that, its
 * context is disposed of.
 */
const LEAVE_MS = 3_000;

/** The page that is to be left, and the session of the capture that leaves it. */
interface PageToLeave {
  readonly host: BrowserHost;
  readonly browserContextId: string;
  readonly session: CdpSession;
  readonly frame: MainFrame;
  /** Detaches the capture from what happens in the context. */
  readonly detach: () => void;
  readonly disposeContext: () => Promise<void>;
  /** Resolves with another session of the capture; undefined when it had none. */
  readonly other: Promise<CdpSession> | undefined;
}

/** Makes a page leave its document, as `Leave` says. */
export async function leavePage(page: PageToLeave, silence: Silence): Promise<BlankPage | undefined> {
  const { host, browserContextId, session, frame, detach, disposeContext, other } = page;
  const { root } = host.connection;
  const isBlank = await within(LEAVE_MS, leaveDocument(session, frame, silence), false);
  detach();
  if (!isBlank) return void (await disposeContext());
  // Emulation, scripts and interception of the capture end with its session.
  const detachFrom = ({ id }: CdpSession) => root.post('Target.detachFromTarget', { sessionId: id });
  detachFrom(session);
  other?.then(detachFrom, () => undefined);
  return { host, browserContextId, targetId: frame.id, dispose: disposeContext };
}

/**
 * Replaces the document with an empty one in the same renderer, and waits until the context is silent. Resolves with
 * false if the page or browser ended.
 */
async function leaveDocument(session: CdpSession, frame: MainFrame, silence: Silence): Promise<boolean> {
  try {
    const before = frame.document;
    // A navigation by the browser would start another renderer.
    await evaluate({ session, frame }, call('leaveDocument'));
    await frame.until(() => frame.document !== before && frame.document?.url === 'about:blank');
    // Requests that are paused would wait for a verdict.
    session.post('Fetch.disable');
    // The page can neither notice nor prevent this request.
    const options = { disableCache: true, includeCredentials: false };
    await silence(() =>
      session.send('Network.loadNetworkResource', { frameId: frame.id, url: 'http://nothing.invalid/', options }),
    );
    await session.send('Page.resetNavigationHistory');
    return true;
  } catch {
    return false;
  }
}
