import type { Protocol } from 'devtools-protocol';
import type { CaptureRequest } from '../../capture/request.ts';
import { CdpClosedError, CdpError, type CdpSession } from '../../cdp/connection.ts';
import type { EgressProxy } from '../../egress/egress.ts';
import { ChildFrames } from '../../page/frames/child-frames.ts';
import { MainFrame } from '../../page/frames/main-frame.ts';
import type { IsolatedPage } from '../../page/isolated-page.ts';
import { type PageSetUp, setUpPage } from '../../page/set-up.ts';
import type { BrowserHost } from '../browser-host.ts';
import { emulateInFrames, showVisitor } from './emulate-in-frames.ts';
import { leavePage, type Sharing } from './leave-page.ts';
import { urlLimit } from './limit-urls.ts';

/** Opens a page in a browser. `over`: aborted when the capture is over. */
export type OpenPage = (
  host: BrowserHost,
  egressProxy: EgressProxy,
  request: CaptureRequest,
  over: AbortSignal,
) => Promise<IsolatedPage>;

/**
 * Opens a page whose only way to the network is `egressProxy`. The browser pauses every new page until it is resumed,
 * so the page is set up before its first script. Rejects with a `PageCrashedError` or a `CdpClosedError` when the page
 * or the browser ends first, and with a `CdpClosedError` soon after `over` is aborted; then nothing is left of the
 * page.
 */
export async function openPage(
  host: BrowserHost,
  egressProxy: EgressProxy,
  request: CaptureRequest,
  over: AbortSignal,
  sharing?: Sharing,
): Promise<IsolatedPage> {
  const root = host.connection.root;
  const shared = sharing?.page;
  const { browserContextId } =
    shared ??
    (await root.send('Target.createBrowserContext', {
      disposeOnDetach: true,
      proxyServer: egressProxy.proxyServer,
      proxyBypassList: '<-loopback>',
    }));
  const { attached, download, detach } = setUpTargets(host, browserContextId, request);
  const abandoned = Promise.withResolvers<never>();
  const abandon = () => abandoned.reject(new CdpClosedError('nobody waits for the page any more'));
  over.addEventListener('abort', abandon, { once: true });
  if (over.aborted) abandon();
  const disposeContext = async () => {
    await root.send('Target.disposeBrowserContext', { browserContextId }).catch(() => undefined);
  };
  const dispose = async () => {
    detach();
    await disposeContext();
  };
  try {
    // Permissions that are not granted are denied; by default pages would prompt, and no one answers.
    const permissions: Protocol.Browser.PermissionType[] = request.geolocation === undefined ? [] : ['geolocation'];
    // The size of the window (`outerWidth`), which screen emulation does not set.
    const { width, height } = request.viewport;
    root.post('Browser.grantPermissions', { permissions, browserContextId });
    root.post('Browser.setDownloadBehavior', { behavior: 'deny', browserContextId, eventsEnabled: true });
    const opening =
      shared === undefined
        ? root.send('Target.createTarget', { url: 'about:blank', browserContextId, width, height })
        : // A script of an earlier document may have closed the page: the capture is repeated on another one.
          attach(host, shared.targetId, 'the shared page is gone');
    opening.catch(attached.reject);
    const { session, frame, frames, setUp } = await Promise.race([attached.promise, abandoned.promise]);
    session.post('Runtime.runIfWaitingForDebugger');
    // A page that crashes or does not start never answers.
    await Promise.race([setUp.done, frame.ended(), abandoned.promise]);
    const { notes, visit, requests } = setUp;
    let other: Promise<CdpSession> | undefined;
    const unemulated = () => {
      other ??= attach(host, frame.id, 'the page is gone');
      return other;
    };
    const opened = { egressProxy, session, unemulated, frame, frames, notes, visit, requests, download, dispose };
    if (sharing === undefined) return opened;
    const page = { host, browserContextId, session, frame, detach, disposeContext };
    return { ...opened, keep: () => sharing.keep((silence) => leavePage({ ...page, other }, silence)) };
  } catch (error) {
    await dispose();
    throw error;
  } finally {
    over.removeEventListener('abort', abandon);
  }
}

/** The page of a context, whose set-up is under way. */
interface AttachedPage {
  readonly session: CdpSession;
  readonly frame: MainFrame;
  readonly frames: ChildFrames;
  readonly setUp: PageSetUp;
}

/** Sets up the page of a context, and the frames and workers that it opens, and closes its popups. */
function setUpTargets(host: BrowserHost, browserContextId: string, request: CaptureRequest) {
  const root = host.connection.root;
  let page: string | null = null;
  let pageSetUp: PageSetUp | undefined;
  const serviceWorkers: string[] = [];
  const download = Promise.withResolvers<string>();
  let stopListening = () => {};
  const attached = Promise.withResolvers<AttachedPage>();
  const stopAttaching = host.onAttach(browserContextId, (session, { targetId, type }) => {
    // Service workers stay paused before their first line, so no script of the site runs without its page.
    if (type === 'service_worker') {
      serviceWorkers.push(targetId);
    } else if (type === 'shared_worker') {
      pageSetUp?.notes.follow(session);
      pageSetUp?.visit.blockIn(session);
      showVisitor(session, request, host.userAgent);
    } else if (page === null) {
      page = targetId;
      // A page and its main frame have the same id.
      stopListening = host.onDownload(targetId, download.resolve);
      const setUp = setUpPage(session, request, host.userAgent);
      pageSetUp = setUp;
      const frame = new MainFrame(session, targetId);
      const limitUrls = urlLimit(frame);
      const limit = (session: CdpSession) => {
        limitUrls(session);
        session.on('Inspector.targetCrashed', () => {
          const failure = host.endsRenderer;
          if (failure !== undefined) frame.fail(failure);
        });
      };
      limit(session);
      const frames = new ChildFrames(session);
      emulateInFrames(host.connection, session, request, host.userAgent, (session, { targetId, type, url }, around) => {
        if (type === 'worker') setUp.requests.addWorker(session, url);
        if (type === 'iframe') frames.addOutOfProcess(targetId, session, around);
        setUp.notes.follow(session);
        limit(session);
        session.post('Page.enable');
      });
      attached.resolve({ session, frame, frames, setUp });
    } else if (targetId !== page) {
      // This is a popup that the browser did not block.
      root.post('Target.closeTarget', { targetId });
    }
  });
  return {
    attached,
    download: download.promise,
    detach: () => {
      stopListening();
      stopAttaching();
      // A worker that is still paused when its context is disposed of would run for a moment.
      for (const targetId of serviceWorkers) root.post('Target.closeTarget', { targetId });
    },
  };
}

/** Attaches another session to a page. Rejects with a `CdpClosedError` that says `gone` when there is no such page. */
async function attach({ connection }: BrowserHost, targetId: string, gone: string): Promise<CdpSession> {
  try {
    const { sessionId } = await connection.root.send('Target.attachToTarget', { targetId, flatten: true });
    return connection.session(sessionId);
  } catch (error) {
    throw error instanceof CdpError ? new CdpClosedError(gone) : error;
  }
}
