import type { DatabaseSync } from 'node:sqlite';
import { distanceOf } from '../../capture/finding/looks.ts';
import type { Likeness, SimilarCapture } from '../ports/result-store.ts';
import { MostSimilar } from '../records/most-similar.ts';
import { BAND_BITS, bandsNear, bandsOf, firstBandNear } from '../records/perception.ts';

const HASHES_OF_BAND = 'SELECT hash FROM perception_bands WHERE band = ? AND hash > ? ORDER BY hash LIMIT ?';
const IDS_OF_HASH = `
  SELECT id FROM perceptions INDEXED BY perceptions_by_hash WHERE hash = ? AND id <> ? ORDER BY id DESC LIMIT ?`;

const IDS_OF_HASH_AND_KEY = `
  SELECT id FROM perceptions INDEXED BY perceptions_of_key
  WHERE api_key_name = ? AND hash = ? AND id <> ? ORDER BY id DESC LIMIT ?`;

/** Maximum number of hashes per step of a search. Such a step takes a few milliseconds. */
const HASHES_AT_ONCE = 1000;

/** For tests of the query plans. */
export const PERCEPTION_STATEMENTS: readonly string[] = [HASHES_OF_BAND, IDS_OF_HASH, IDS_OF_HASH_AND_KEY];

/** The perception hashes in an open database. Must be changed in the transaction of their results. */
export function perceptions(db: DatabaseSync) {
  const insertBand = db.prepare('INSERT INTO perception_bands (band, hash) VALUES (?, ?) ON CONFLICT DO NOTHING');
  const deleteBand = db.prepare('DELETE FROM perception_bands WHERE band = ? AND hash = ?');
  const insertId = db.prepare('INSERT INTO perceptions (id, hash, api_key_name) VALUES (?, ?, ?)');
  const deleteId = db.prepare('DELETE FROM perceptions WHERE id = ? RETURNING hash');
  const hashesOfBand = db.prepare(HASHES_OF_BAND);
  const idsOfHash = db.prepare(IDS_OF_HASH);
  const idsOfHashAndKey = db.prepare(IDS_OF_HASH_AND_KEY);

  const idsOf = (hash: string, except: number, limit: number, ofKey?: string): number[] => {
    const rows =
      ofKey === undefined ? idsOfHash.all(hash, except, limit) : idsOfHashAndKey.all(ofKey, hash, except, limit);
    return rows.map(({ id }) => Number(id));
  };

  function* hashesOf(band: number): Generator<readonly string[]> {
    for (let after = ''; ; ) {
      const hashes = hashesOfBand.all(band, after, HASHES_AT_ONCE).map(({ hash }) => String(hash));
      yield hashes;
      if (hashes.length < HASHES_AT_ONCE) return;
      after = hashes.at(-1) ?? '';
    }
  }

  /**
   * Finds the nearest captures, then the newest, in steps of a few milliseconds, between which the database may change.
   */
  function* similar(
    { hash, distance: max, except, ofKey }: Likeness,
    limit: number,
  ): Generator<void, readonly SimilarCapture[]> {
    const similar = new MostSimilar(limit);
    for (const band of bandsNear(hash, max)) {
      for (const others of hashesOf(band)) {
        for (const other of others) {
          const distance = distanceOf(hash, other);
          if (distance > max || !similar.takes(distance)) continue;
          // Another band may lead to the same hash.
          if (firstBandNear(hash, other, max) === band >>> BAND_BITS)
            similar.add(idsOf(other, except, limit, ofKey), distance);
        }
        yield;
      }
    }
    return similar.found;
  }

  return {
    /** `apiKeyName`: name of the API key that requested the capture. */
    add: (id: number, hash: string, apiKeyName: string | null) => {
      insertId.run(id, hash, apiKeyName);
      for (const band of bandsOf(hash)) insertBand.run(band, hash);
    },
    remove: (id: number) => {
      const hash = deleteId.get(id)?.hash;
      if (typeof hash !== 'string' || idsOf(hash, id, 1).length > 0) return;
      for (const band of bandsOf(hash)) deleteBand.run(band, hash);
    },
    similar,
  };
}
