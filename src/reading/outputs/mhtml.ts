import { z } from 'zod';
import type { Output } from '../../capture/result/snapshot.ts';
import { call, type ResultOf } from '../../page/asking/page-scripts.ts';
import type { ArchivedFile } from '../../page/evidence/archived-files.ts';
import { framesBelow } from '../../page/frames/frames-below.ts';
import type { Reading } from '../documents/reading.ts';
import { missingImages, spritesOf } from './archived-images.ts';
import { ADDED_MARK, mendArchive, STYLE_MARK } from './mend-archive.ts';

/** Maximum size of an archive. A larger one is left out, because a part of an archive cannot be opened. */
const MAX_BYTES = 64 * 1024 * 1024;
/** Maximum number of characters of the style sheets that are compared with those of the page. */
const MAX_COMPARED_CHARACTERS = 2 * 1024 * 1024;
/** Maximum number of characters of the files of SVG that are put into the page; its frames share as many. */
const MAX_SPRITE_CHARACTERS = 2 * 1024 * 1024;
/** Maximum number of frames whose style sheets are looked at, and more than the marks of one. */
const MAX_FRAMES = 50;
const NUMBERS = 10_000;
/** Share of bytes in base64. */
const SHARE_OF_BASE64 = 0.7;
/** Shares of the output's time for files that are still arriving, and for looking at the page's style sheets. */
const FILES_SHARE = 0.2;
const PREPARING_SHARE = 0.3;

const preparation: z.ZodType<ResultOf<'prepareArchive'>> = z.object({
  styles: z.array(z.string().nullable()),
  changed: z.array(z.string()),
  added: z.array(z.string()),
});

/** Archives the page with everything that it shows, as one file that needs no network. */
export async function archivePage({ page, ask, ms }: Reading): Promise<Output> {
  const files = (await page.notes.files?.all(ms * FILES_SHARE)) ?? [];
  const sheets = comparable(files);
  const [below, sprites] = await Promise.all([framesBelow(page), spritesOf(page)]);
  const documents = below.slice(0, MAX_FRAMES);
  const spritesOfFrame = within(MAX_SPRITE_CHARACTERS / documents.length, sprites);
  const inFrames = documents.map((document, at) =>
    ask(call('prepareFrame', ADDED_MARK, (at + 1) * NUMBERS, spritesOfFrame), ms * PREPARING_SHARE, document)
      .then((answer) => z.array(z.string()).parse(answer))
      .catch(() => []),
  );
  const spritesOfPage = within(MAX_SPRITE_CHARACTERS, sprites);
  const preparing = ask(call('prepareArchive', sheets, STYLE_MARK, ADDED_MARK, spritesOfPage), ms * PREPARING_SHARE);
  const ofFrames = await Promise.all(inFrames);
  const { data } = preparation.safeParse(await preparing.catch(() => undefined));
  let restoring: Promise<unknown> | undefined;
  const archive = await page.session.archive().finally(() => {
    const restorePage = [undefined, ...documents].map((document) => ask(call('restorePage'), ms, document));
    restoring = Promise.allSettled(restorePage);
  });
  if (archive.byteLength > MAX_BYTES) throw new RangeError(`the archive has more than ${MAX_BYTES} bytes`);
  const { styles, changed, added } = data ?? { styles: [], changed: [], added: [] };
  const compared = new Set(sheets.map(([url]) => url));
  const isAsSent = (url: string) => data !== undefined && compared.has(url) && !changed.includes(url);
  const images = await missingImages(page, archive, (MAX_BYTES - archive.byteLength) * SHARE_OF_BASE64);
  const kept = files.filter(({ kind, url }) => kind === 'Font' || isAsSent(url));
  const numbered = [added, ...ofFrames].flatMap((texts, frame) =>
    texts.map((text, at): [number, string] => [frame * NUMBERS + at, text]),
  );
  const content = await mendArchive(archive, { styles, added: new Map(numbered), files: [...kept, ...images] });
  await restoring;
  if (content.byteLength > MAX_BYTES) throw new RangeError(`the archive has more than ${MAX_BYTES} bytes`);
  return { content, partial: false };
}

type NamedText = readonly [url: string, text: string];

/** Returns URLs and texts of style sheets, as many as are compared. */
function comparable(files: readonly ArchivedFile[]): readonly NamedText[] {
  const sheets = files.filter(({ kind, body }) => kind === 'Stylesheet' && body.encoding === undefined);
  return within(
    MAX_COMPARED_CHARACTERS,
    sheets.map(({ url, body }) => [url, body.text ?? '']),
  );
}

/** Returns those of the texts that fit into a number of characters. */
function within(room: number, texts: readonly NamedText[]): readonly NamedText[] {
  let left = room;
  return texts.filter(([, { length }]) => {
    if (length > left) return false;
    left -= length;
    return true;
  });
}
