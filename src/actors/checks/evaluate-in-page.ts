import { CdpClosedError, type CdpSession } from '../../cdp/connection.ts';
import type { Call } from '../../page/asking/page-scripts.ts';
import type { BrowserHost } from '../browser-host.ts';

/**
 * Returns what a script returns in an empty page of the browser, whose own world no other script can have changed.
 * @throws CdpClosedError when the browser or the page ends first.
 */
export async function evaluateInPage(host: BrowserHost, script: Call): Promise<unknown> {
  const { root } = host.connection;
  const { browserContextId } = await root.send('Target.createBrowserContext', { disposeOnDetach: true });
  const attached = Promise.withResolvers<CdpSession>();
  const stopAttaching = host.onAttach(browserContextId, attached.resolve);
  try {
    root.send('Target.createTarget', { url: 'about:blank', browserContextId }).catch(attached.reject);
    const session = await attached.promise;
    const crashed = Promise.withResolvers<never>();
    session.on('Inspector.targetCrashed', () => crashed.reject(new CdpClosedError('the page crashed')));
    session.post('Runtime.runIfWaitingForDebugger');
    const answer = session.send('Runtime.evaluate', { expression: script, returnByValue: true });
    const { result } = await Promise.race([answer, crashed.promise]);
    return result.value;
  } finally {
    stopAttaching();
    root.post('Target.disposeBrowserContext', { browserContextId });
  }
}
