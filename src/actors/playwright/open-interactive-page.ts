import type { IsolatedPage } from '../../page/isolated-page.ts';
import { openPage, type PageOpening } from '../direct/open-page.ts';
import { PlaywrightInteraction } from './interaction.ts';

/**
 * Opens a page as `openPage` does, under the same egress policy and with the same evidence, and attaches Playwright to
 * it.
 */
export async function openInteractivePage(...[host, ...opening]: PageOpening): Promise<IsolatedPage> {
  const page = await openPage(host, ...opening);
  // Every page behaves as if it were in the foreground, although several pages share a browser.
  page.session.post('Emulation.setFocusEmulationEnabled', { enabled: true });
  const interaction = new PlaywrightInteraction(host, page);
  const dispose = async () => {
    interaction.release();
    await page.dispose();
  };
  return { ...page, interaction, dispose };
}
