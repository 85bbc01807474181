import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import pLimit from 'p-limit';
import type { Result } from '../capture/result/result.ts';
import { renderThumbnail } from '../imaging/render-thumbnail.ts';
import type { ArtifactStore } from '../storage/ports/artifact-store.ts';
import { endsList, type Keyset, keysetOf, type ResultFilter, type ResultStore } from '../storage/ports/result-store.ts';
import { type Card, galleryPage, pageName, STYLE } from './gallery-page.ts';

/** Number of captures on a page. Bounds the memory of an export. */
const CARDS_PER_PAGE = 100;
export const THUMBNAIL = { width: 480, height: 300, format: 'webp', quality: 80 } as const;
/** Maximum number of images decoded at once. */
export const MAX_AT_ONCE = 2;

export interface Exported {
  readonly captures: number;
  readonly thumbnails: number;
  readonly pages: number;
}

/**
 * Writes the captures that match a filter, newest first, to a folder of pages with thumbnails. A browser can open the
 * pages without a running service. Captures whose image is a PDF, or is not in this store, have no thumbnail.
 */
export async function exportHtml(
  results: ResultStore,
  artifacts: Pick<ArtifactStore, 'open'>,
  filter: ResultFilter,
  directory: string,
): Promise<Exported> {
  const limit = pLimit(MAX_AT_ONCE);
  let thumbnails = 0;
  await mkdir(join(directory, 'thumbnails'), { recursive: true });
  await writeFile(join(directory, 'style.css'), STYLE);

  async function cardOf(result: Result): Promise<Card> {
    const image = await imageOf(result);
    if (image === undefined) return { result, thumbnail: undefined };
    const thumbnail = `thumbnails/${result.id}.webp`;
    await writeFile(join(directory, thumbnail), image);
    thumbnails += 1;
    return { result, thumbnail };
  }

  async function imageOf({ id, format, artifacts: stored }: Result): Promise<Buffer | undefined> {
    if (stored === null || format === 'pdf') return undefined;
    const artifact = await artifacts.open(id, 'image');
    if (artifact === undefined) return undefined;
    try {
      return await renderThumbnail(await buffer(artifact.stream()), THUMBNAIL);
    } catch {
      // A damaged file must not prevent the export of the others.
      return undefined;
    }
  }

  let captures = 0;
  let after: Keyset | undefined;
  for (let number = 1; ; number += 1) {
    const found = await results.page(filter, CARDS_PER_PAGE + 1, after);
    const shown = found.slice(0, CARDS_PER_PAGE);
    const hasNext = !endsList(found, CARDS_PER_PAGE + 1);
    const cards = await Promise.all(shown.map((result) => limit(() => cardOf(result))));
    await writeFile(join(directory, pageName(number)), galleryPage({ cards, number, hasNext }));
    captures += shown.length;
    const last = shown.at(-1);
    if (!hasNext || last === undefined) return { captures, thumbnails, pages: number };
    after = keysetOf(last);
  }
}
