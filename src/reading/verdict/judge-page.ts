import type { Deadline } from '../../capture/deadline.ts';
import type { Snapshot } from '../../capture/result/snapshot.ts';
import type { Verdict } from '../../capture/result/verdict.ts';
import { framesIn } from '../../page/frames/frames-below.ts';
import type { IsolatedPage } from '../../page/isolated-page.ts';
import { isOneColour } from '../../page/screenshot/is-one-colour.ts';
import type { Screenshot } from '../../page/screenshot/screenshot.ts';
import type { Signs } from '../../page-scripts/signs/read-signs.ts';
import { judge } from './judge.ts';

/** Media types of documents that are pages for people. */
const PAGES = /html|xml|^text\/|json/;

/**
 * Returns the verdict on a captured page from what was read of it; null for a document of another type, such as an
 * image. Only where no text was seen is the screenshot examined, and only where a frame lies over the page the frames.
 */
export async function judgePage(
  page: IsolatedPage,
  signs: Signs,
  document: Pick<Snapshot, 'title' | 'responseCode' | 'finalUrl' | 'contentType'>,
  { image }: Screenshot,
  deadline: Deadline,
): Promise<Verdict | null> {
  const { title, responseCode, finalUrl, contentType } = document;
  if (!PAGES.test(contentType)) return null;
  const isBlank = signs.text === '' && (await isOneColour(image).catch(() => signs.graphics === 0));
  const { overlay } = signs;
  const failed = overlay.frames.length === 0 ? [] : await deadline.step('judge the page', failedFrames(page));
  const frames = overlay.frames.filter((url) => !failed.some((whole) => whole.startsWith(url)));
  const isBrokenOff = page.visit.brokenOff === page.frame.document?.loaderId;
  const known = { title, status: responseCode, finalUrl, isBlank, isBrokenOff };
  return judge({ ...signs, overlay: { ...overlay, frames } }, known);
}

/** Returns the URLs of frames that could not be loaded: they are transparent, so they hide nothing. */
async function failedFrames({ session }: IsolatedPage): Promise<readonly string[]> {
  const { frameTree } = await session.send('Page.getFrameTree');
  return framesIn(frameTree).flatMap(({ unreachableUrl = [] }) => unreachableUrl);
}
