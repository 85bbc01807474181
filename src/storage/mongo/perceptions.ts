import { distanceOf } from '../../capture/finding/looks.ts';
import type { Likeness, SimilarCapture } from '../ports/result-store.ts';
import { MostSimilar } from '../records/most-similar.ts';
import { bandsNear, bandsOf } from '../records/perception.ts';
import { BY_BAND, BY_PERCEPTION, BY_PERCEPTION_OF_KEY, type Collections } from './collections.ts';
import type { PerceptionDocument, ResultDocument } from './documents.ts';

/*
 * Bands lead to hashes, and hashes to captures: a page that is captured repeatedly without changing is one hash to
 * compare. A hash without captures costs only an extra read.
 */

/** Number of hashes whose captures are queried at once: MongoDB merges up to 200 ranges of an index. */
const HASHES_AT_ONCE = 150;
/** Number of hashes per batch, which blocks the event loop for 3 ms. The default batch has 16 MiB. */
const BATCH = 1000;

/**
 * Writes the hashes of results before the results are inserted, because a result without its hash would not be found.
 */
export async function notePerceptions(
  { perceptions }: Collections,
  documents: readonly ResultDocument[],
): Promise<void> {
  const hashes = new Set(documents.flatMap(({ perception_hash: hash }) => hash ?? []));
  if (hashes.size === 0) return;
  await perceptions.bulkWrite(
    [...hashes].map((hash) => ({
      updateOne: { filter: { _id: hash }, update: { $setOnInsert: { bands: bandsOf(hash) } }, upsert: true },
    })),
    { ordered: false },
  );
}

/** Returns at most `limit` captures, nearest first, then newest. */
export async function similarTo(
  collections: Collections,
  { hash, distance: most, except, ofKey }: Likeness,
  limit: number,
): Promise<readonly SimilarCapture[]> {
  const similar = new MostSimilar(limit);
  const gathered = new Map<number, string[]>();

  async function look(hashes: readonly string[], distance: number): Promise<void> {
    if (!similar.takes(distance)) return;
    const ids = await newestOf(collections, { hashes, ofKey }, limit + 1);
    similar.add(
      ids.filter((id) => id !== except),
      distance,
    );
  }

  const near = collections.perceptions
    .find({ bands: { $in: [...bandsNear(hash, most)] } })
    .hint(BY_BAND)
    .batchSize(BATCH)
    .project<Pick<PerceptionDocument, '_id'>>({ _id: 1 });
  for await (const { _id: other } of near) {
    const distance = distanceOf(hash, other);
    if (distance > most || !similar.takes(distance)) continue;
    const hashes = gathered.get(distance) ?? [];
    gathered.set(distance, [...hashes, other]);
    if (hashes.length + 1 < HASHES_AT_ONCE) continue;
    gathered.delete(distance);
    await look([...hashes, other], distance);
  }
  for (const [distance, hashes] of [...gathered].sort(([a], [b]) => a - b)) await look(hashes, distance);
  return similar.found;
}

/** Returns the ids of the newest captures with one of these hashes, those of one API key or of all. */
async function newestOf(
  { results }: Collections,
  { hashes, ofKey }: { readonly hashes: readonly string[]; readonly ofKey: string | undefined },
  limit: number,
): Promise<number[]> {
  const documents = await results
    .find({ ...(ofKey !== undefined && { api_key_name: ofKey }), perception_hash: { $in: [...hashes] } })
    .hint(ofKey === undefined ? BY_PERCEPTION : BY_PERCEPTION_OF_KEY)
    .project<{ readonly _id: number }>({ _id: 1 })
    .sort({ _id: -1 })
    .limit(limit)
    .toArray();
  return documents.map(({ _id }) => _id);
}
