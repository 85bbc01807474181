import { text as textOf } from 'node:stream/consumers';
import type { ArtifactKind } from '../../capture/artifacts/artifacts.ts';
import { type ElementMap, ElementMapSchema, MAX_MAP_CHARACTERS } from '../../capture/comparison/element-map.ts';
import { MAX_INDEXED_CHARACTERS, type PageWords, type Place } from '../../capture/result/page-words.ts';
import type { Result } from '../../capture/result/result.ts';
import { hashOf } from '../../words/text-hash.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { textOfHtml } from './text-of-html.ts';

/** Maximum size of an HTML snapshot that is read, in bytes. */
const MAX_HTML_BYTES = 16 * 1024 * 1024;
/** Number of characters of the text in which the next text of the element map is looked for. */
const AHEAD = 4_096;

/**
 * Returns the words of a page that was captured without an index: its output `text` or, without one, the text of its
 * HTML snapshot, as far as the element map says that it was shown. Undefined when there is neither.
 */
export async function earlierWords(
  artifacts: Pick<ArtifactStore, 'open'>,
  { id, artifacts: stored, content_type: type }: Result,
): Promise<PageWords | undefined> {
  const read = async (kind: ArtifactKind, maxBytes: number) => {
    if (stored?.kinds.includes(kind) !== true) return undefined;
    const file = await artifacts.open(id, kind);
    if (file === undefined) return undefined;
    if (file.bytes > maxBytes) await file.close();
    return file.bytes > maxBytes ? undefined : textOf(file.stream());
  };
  const map = mapIn(await read('elements', MAX_MAP_CHARACTERS * 3));
  const painted = await read('text', MAX_HTML_BYTES);
  const html = painted === undefined && /html/i.test(type) ? await read('html', MAX_HTML_BYTES) : undefined;
  const text =
    painted?.trim().slice(0, MAX_INDEXED_CHARACTERS) ?? (html === undefined ? undefined : seenText(html, map));
  return text === undefined ? undefined : { text, places: placesIn(text, map) };
}

function mapIn(json: string | undefined): ElementMap | undefined {
  try {
    return json === undefined ? undefined : ElementMapSchema.parse(JSON.parse(json));
  } catch {
    return undefined;
  }
}

function seenText(html: string, map: ElementMap | undefined): string {
  const keyOf = (length: number, hash: number) => `${length} ${hash}`;
  const seen = new Set(map?.entries.flatMap((entry) => ('text' in entry ? [keyOf(entry.length, entry.hash)] : [])));
  const isSeen = (run: string) => map === undefined || map.partial || seen.has(keyOf(run.length, hashOf(run)));
  return textOfHtml(html, isSeen);
}

/** Returns where the texts of an element map begin in a text, with the boxes of their elements. */
function placesIn(text: string, map: ElementMap | undefined): readonly Place[] {
  const places: Place[] = [];
  let from = 0;
  for (const entry of map?.entries ?? []) {
    if (!('text' in entry)) continue;
    const around = map?.entries[entry.parent];
    const box = around !== undefined && 'tag' in around ? around.box : undefined;
    const found = text.slice(from, from + AHEAD).indexOf(entry.text);
    if (found === -1 || box === undefined) continue;
    places.push([from + found, ...box]);
    from += found + entry.text.length;
  }
  return places;
}
