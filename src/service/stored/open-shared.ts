import { isOfKey, type OfKey, ofKey } from '../../capture/client.ts';
import { recordsOf } from '../../storage/ports/result-store.ts';
import type { SharedLink } from '../../storage/ports/shared-link-store.ts';
import type { CaptureService, Shared, SightOf } from '../capture-service.ts';

/** Returns a shared link with the view of the key that made it. */
export async function openShared(whole: CaptureService, sightOf: SightOf, id: string): Promise<Shared | undefined> {
  const found = await whole.sharedLinks.get(id, Date.now());
  const [link] = found === undefined ? [] : await stillShared(whole, sightOf, [found]);
  if (link === undefined) return undefined;
  const sees = sightOf(link)?.sees;
  return { link, service: sees === undefined ? whole : whole.onlyOf(sees) };
}

/**
 * Returns the links that show something. Those whose captures are gone are removed: ids are never used again, so they
 * could show nothing any more. Those whose captures their makers must not see any more are kept.
 */
export async function stillShared(
  whole: CaptureService,
  sightOf: SightOf,
  links: readonly SharedLink[],
): Promise<readonly SharedLink[]> {
  const capturesOf = ({ capture, other }: SharedLink) => (other === null ? [capture] : [capture, other]);
  const owners = new Map<number, OfKey>();
  for await (const [id, record] of recordsOf(whole.results, links.flatMap(capturesOf))) {
    if (record !== undefined) owners.set(id, ofKey(record.api_key_name));
  }
  const isGone = (link: SharedLink) => capturesOf(link).some((id) => !owners.has(id));
  const gone = links.filter(isGone);
  if (gone.length > 0) await whole.sharedLinks.remove(gone.map(({ id }) => id));
  const isSeen = (link: SharedLink) => {
    const sight = sightOf(link);
    return sight !== undefined && capturesOf(link).every((id) => isOfKey(owners.get(id) ?? {}, sight.sees));
  };
  return links.filter((link) => !isGone(link) && isSeen(link));
}
