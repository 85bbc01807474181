import type { Protocol } from 'devtools-protocol';
import type { ArchivedFile } from '../../page/evidence/archived-files.ts';
import type { PageSession } from '../../page/frames/page-session.ts';
import type { IsolatedPage } from '../../page/isolated-page.ts';

const MAX_IMAGES = 300;
/** Maximum number and size of the files of SVG that are put into the page. */
const MAX_SPRITES = 50;
const MAX_SPRITE_BYTES = 512 * 1024;
const NAME = '\r\nContent-Location: ';

interface Place {
  readonly session: PageSession;
  readonly frameId: string;
  readonly url: string;
  readonly type: string;
}

/**
 * Resolves with the images of the page that an archive lacks, of at most `maxBytes` together: Chromium leaves out those
 * of SVG (`<image>`, `<feImage>`), of `image-set()` and posters, and blobs that style sheets of scripts name.
 */
export async function missingImages(
  { session, frames }: IsolatedPage,
  archive: Buffer,
  maxBytes: number,
): Promise<readonly ArchivedFile[]> {
  const names = namesIn(archive);
  const sessions = [session, ...frames.outOfProcess.values()];
  const found = await Promise.all(sessions.map((each) => resourcesOf(each, ({ type }) => type === 'Image')));
  let room = maxBytes;
  const missing = new Map<string, Place>();
  for (const { contentSize, ...place } of found.flat()) {
    if (names.has(place.url) || missing.has(place.url) || missing.size === MAX_IMAGES || contentSize > room) continue;
    room -= contentSize;
    missing.set(place.url, place);
  }
  return (await Promise.all([...missing.values()].map(contentOf))).flat();
}

function namesIn(archive: Buffer): ReadonlySet<string> {
  const names = new Set<string>();
  for (let at = archive.indexOf(NAME); at !== -1; at = archive.indexOf(NAME, at + 1)) {
    const end = archive.indexOf('\r\n', at + NAME.length);
    names.add(archive.toString('latin1', at + NAME.length, end));
  }
  return names;
}

/** Resolves with the URLs and texts of the files of SVG that the page has loaded: `<use>` may refer to them. */
export async function spritesOf({ session }: IsolatedPage): Promise<readonly (readonly [url: string, text: string])[]> {
  const isSprite = ({ mimeType, contentSize = 0 }: Protocol.Page.FrameResource) =>
    mimeType === 'image/svg+xml' && contentSize <= MAX_SPRITE_BYTES;
  const files = await Promise.all((await resourcesOf(session, isSprite)).slice(0, MAX_SPRITES).map(contentOf));
  return files
    .flat()
    .map(({ url, body: { text = '', encoding } }) => [
      url.replace(/#.*/s, ''),
      encoding === 'base64' ? Buffer.from(text, 'base64').toString() : text,
    ]);
}

/** A process may end at any time. */
async function resourcesOf(
  session: PageSession,
  isWanted: (resource: Protocol.Page.FrameResource) => boolean,
): Promise<readonly (Place & { readonly contentSize: number })[]> {
  const answer = await session.send('Page.getResourceTree').catch(() => undefined);
  return treesIn(answer?.frameTree).flatMap(({ frame, resources }) =>
    resources.flatMap((resource) => {
      const { url, mimeType, failed, canceled, contentSize = 0 } = resource;
      const isThere = isWanted(resource) && failed !== true && canceled !== true && /^(?:https?|blob):/.test(url);
      return isThere ? [{ session, frameId: frame.id, url, type: mimeType, contentSize }] : [];
    }),
  );
}

function treesIn(tree: Protocol.Page.FrameResourceTree | undefined): readonly Protocol.Page.FrameResourceTree[] {
  return tree === undefined ? [] : [tree, ...(tree.childFrames ?? []).flatMap(treesIn)];
}

async function contentOf({ session, frameId, url, type }: Place): Promise<readonly ArchivedFile[]> {
  const answer = await session.send('Page.getResourceContent', { frameId, url }).catch(() => undefined);
  if (answer === undefined) return [];
  const { content: text, base64Encoded } = answer;
  return [{ kind: 'Image', url, type, body: { text, ...(base64Encoded && { encoding: 'base64' }) } }];
}
