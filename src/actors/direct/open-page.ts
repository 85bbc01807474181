import type { BrowserHost } from '../browser-host.ts';
import type { CdpSession } from '../cdp/connection.ts';
import { MainFrame } from './main-frame.ts';

/** CSS pixels: what Playwright takes, and so what people expect. */
export const DEFAULT_VIEWPORT = { width: 1280, height: 720 } as const;

/** A page in a browser context that nobody else has, or ever had. */
export interface IsolatedPage {
  readonly session: CdpSession;
  readonly frame: MainFrame;
  /** Resolves with the name of the file that was offered for download, once one is. */
  readonly download: Promise<string>;
  /** Ends the context and all that is in it. Resolves also when the browser is gone. */
  dispose(): Promise<void>;
}

/**
 * Opens a page whose only way to the network is `proxyServer`. Every new page is paused by the browser until it is
 * told to run, so that it is set up before anything happens in it; the set-up is sent at once, without awaiting each
 * answer (1.1 times the captures a second).
 */
export async function openPage(host: BrowserHost, proxyServer: string): Promise<IsolatedPage> {
  const root = host.connection.root;
  const { browserContextId } = await root.send('Target.createBrowserContext', {
    disposeOnDetach: true,
    proxyServer,
    proxyBypassList: '<-loopback>',
  });
  let page: string | null = null;
  const download = Promise.withResolvers<string>();
  const stopListening = root.on('Browser.downloadWillBegin', ({ frameId, suggestedFilename }) => {
    if (frameId === page) download.resolve(suggestedFilename);
  });
  const attached = Promise.withResolvers<{ session: CdpSession; frame: MainFrame }>();
  const stopAttaching = host.onAttach(browserContextId, (session, { targetId, type }) => {
    // It is paused before its first line, and nobody lets it run: no page's script is there when the page is not.
    if (type === 'service_worker') return;
    if (page === null) {
      page = targetId;
      // The id of a page is that of its main frame.
      attached.resolve({ session, frame: new MainFrame(session, targetId) });
    } else {
      // A page that the page has opened.
      root.post('Target.closeTarget', { targetId });
    }
  });
  const dispose = async () => {
    stopListening();
    stopAttaching();
    await root.send('Target.disposeBrowserContext', { browserContextId }).catch(() => undefined);
  };
  try {
    // None is granted, and so all the others are denied; without it they ask, and nobody answers.
    root.post('Browser.grantPermissions', { permissions: [], browserContextId });
    root.post('Browser.setDownloadBehavior', { behavior: 'deny', browserContextId, eventsEnabled: true });
    root.send('Target.createTarget', { url: 'about:blank', browserContextId }).catch(attached.reject);
    const { session, frame } = await attached.promise;
    const enabled = session.send('Page.enable');
    session.post('Page.setLifecycleEventsEnabled', { enabled: true });
    session.post('Inspector.enable');
    session.post('Emulation.setDeviceMetricsOverride', { ...DEFAULT_VIEWPORT, deviceScaleFactor: 1, mobile: false });
    session.on('Page.javascriptDialogOpening', () => session.post('Page.handleJavaScriptDialog', { accept: false }));
    session.post('Runtime.runIfWaitingForDebugger');
    // A navigation that is sent before this is answered is lost now and then.
    await enabled;
    return { session, frame, download: download.promise, dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}
