import type { Snapshot } from '../../../capture/snapshot.ts';
import type { Verdict } from '../../../capture/verdict.ts';
import { isOneColour } from '../is-one-colour.ts';
import type { Picture } from '../screenshot/picture.ts';
import { judge } from './judge.ts';
import type { Signs } from './signs.ts';

/** Media types of documents that are pages for people. */
const PAGES = /html|xml|^text\/|json/;

/**
 * Returns the verdict on a captured page from what was read of it; null for a document of another type, such as an image.
 * Only for a page on which no text was seen the picture is examined, too.
 */
export async function judgePage(
  signs: Signs,
  document: Pick<Snapshot, 'title' | 'responseCode' | 'finalUrl' | 'contentType'>,
  { image }: Picture,
): Promise<Verdict | null> {
  const { title, responseCode, finalUrl, contentType } = document;
  if (!PAGES.test(contentType)) return null;
  const isBlank = signs.text === '' && (await isOneColour(image).catch(() => signs.graphics === 0));
  return judge(signs, { title, status: responseCode, finalUrl, isBlank });
}
