import type { Protocol } from 'devtools-protocol';
import type { CaptureRequest } from '../../capture/request.ts';
import type { BrowserHost } from '../browser-host.ts';
import { CdpClosedError, type CdpSession } from '../cdp/connection.ts';
import { ChildFrames } from '../page/child-frames.ts';
import type { IsolatedPage } from '../page/isolated-page.ts';
import { MainFrame } from '../page/main-frame.ts';
import { type PageSetUp, setUpPage } from '../page/set-up.ts';
import { emulateInFrames, showVisitor } from './emulate-in-frames.ts';
import { urlLimit } from './limit-urls.ts';

/**
 * Opens a page whose only way to the network is `proxyServer`. The browser pauses every new page until it is resumed,
 * so the page is set up before its first script. Rejects with a `PageCrashedError` or a `CdpClosedError` when the page
 * or the browser ends first, and with a `CdpClosedError` soon after `over` is aborted; then nothing is left of the
 * page.
 */
export async function openPage(
  host: BrowserHost,
  proxyServer: string,
  request: CaptureRequest,
  over: AbortSignal,
): Promise<IsolatedPage> {
  const root = host.connection.root;
  const { browserContextId } = await root.send('Target.createBrowserContext', {
    disposeOnDetach: true,
    proxyServer,
    proxyBypassList: '<-loopback>',
  });
  let page: string | null = null;
  const serviceWorkers: string[] = [];
  const download = Promise.withResolvers<string>();
  let stopListening = () => {};
  const attached = Promise.withResolvers<{
    session: CdpSession;
    frame: MainFrame;
    frames: ChildFrames;
    setUp: PageSetUp;
  }>();
  const stopAttaching = host.onAttach(browserContextId, (session, { targetId, type }) => {
    // Service workers stay paused before their first line, so no script of the site runs without its page.
    if (type === 'service_worker') {
      serviceWorkers.push(targetId);
    } else if (type === 'shared_worker') {
      showVisitor(session, request, host.userAgent);
    } else if (page === null) {
      page = targetId;
      // A page and its main frame have the same id.
      stopListening = host.onDownload(targetId, download.resolve);
      const setUp = setUpPage(session, request, host.userAgent);
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
      emulateInFrames(host.connection, session, request, host.userAgent, (session, { targetId, type, url }) => {
        if (type === 'worker') setUp.requests.addWorker(session, url);
        if (type === 'iframe') frames.addOutOfProcess(targetId, session);
        limit(session);
      });
      attached.resolve({ session, frame, frames, setUp });
    } else if (targetId !== page) {
      // This is a popup that the browser did not block.
      root.post('Target.closeTarget', { targetId });
    }
  });
  const abandoned = Promise.withResolvers<never>();
  const abandon = () => abandoned.reject(new CdpClosedError('nobody waits for the page any more'));
  over.addEventListener('abort', abandon, { once: true });
  if (over.aborted) abandon();
  const dispose = async () => {
    stopListening();
    stopAttaching();
    // A worker that is still paused when its context is disposed of would run for a moment.
    for (const targetId of serviceWorkers) root.post('Target.closeTarget', { targetId });
    await root.send('Target.disposeBrowserContext', { browserContextId }).catch(() => undefined);
  };
  try {
    // Permissions that are not granted are denied; by default pages would prompt, and no one answers.
    const permissions: Protocol.Browser.PermissionType[] = request.geolocation === undefined ? [] : ['geolocation'];
    // The size of the window (`outerWidth`), which screen emulation does not set.
    const { width, height } = request.viewport;
    root.post('Browser.grantPermissions', { permissions, browserContextId });
    root.post('Browser.setDownloadBehavior', { behavior: 'deny', browserContextId, eventsEnabled: true });
    root.send('Target.createTarget', { url: 'about:blank', browserContextId, width, height }).catch(attached.reject);
    const { session, frame, frames, setUp } = await Promise.race([attached.promise, abandoned.promise]);
    session.post('Runtime.runIfWaitingForDebugger');
    // A page that crashes or does not start never answers.
    await Promise.race([setUp.done, frame.ended(), abandoned.promise]);
    const { notes, visit, requests } = setUp;
    return { session, frame, frames, notes, visit, requests, download: download.promise, dispose };
  } catch (error) {
    await dispose();
    throw error;
  } finally {
    over.removeEventListener('abort', abandon);
  }
}
