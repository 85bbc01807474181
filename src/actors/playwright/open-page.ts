import type { CaptureRequest } from '../../capture/request.ts';
import type { BrowserHost } from '../browser-host.ts';
import { openPage } from '../direct/open-page.ts';
import type { IsolatedPage } from '../page/isolated-page.ts';
import { PlaywrightInteraction } from './interaction.ts';

/** Opens a page as `openPage` does, so that the same border holds and the same is seen, and gives Playwright to it. */
export async function openInteractivePage(
  host: BrowserHost,
  proxyServer: string,
  request: CaptureRequest,
  over: AbortSignal,
): Promise<IsolatedPage> {
  const page = await openPage(host, proxyServer, request, over);
  // Of several pages in one browser each behaves as the one in front.
  page.session.post('Emulation.setFocusEmulationEnabled', { enabled: true });
  const interaction = new PlaywrightInteraction(host, page);
  const dispose = async () => {
    interaction.release();
    await page.dispose();
  };
  return { ...page, interaction, dispose };
}
