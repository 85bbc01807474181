import type { CaptureRequest } from '../../capture/request.ts';
import type { IsolatedPage } from '../../page/isolated-page.ts';
import type { BrowserHost } from '../browser-host.ts';
import { openPage } from '../direct/open-page.ts';
import { PlaywrightInteraction } from './interaction.ts';

/**
 * Opens a page as `openPage` does, under the same egress policy and with the same evidence, and attaches Playwright to
 * it.
 */
export async function openInteractivePage(
  host: BrowserHost,
  proxyServer: string,
  request: CaptureRequest,
  over: AbortSignal,
): Promise<IsolatedPage> {
  const page = await openPage(host, proxyServer, request, over);
  // Every page behaves as if it were in the foreground, although several pages share a browser.
  page.session.post('Emulation.setFocusEmulationEnabled', { enabled: true });
  const interaction = new PlaywrightInteraction(host, page);
  const dispose = async () => {
    interaction.release();
    await page.dispose();
  };
  return { ...page, interaction, dispose };
}
