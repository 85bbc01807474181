import { CapstanError } from '../../capture/errors.ts';
import { nullIfDamaged } from '../failures/store-errors.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { changedStore } from '../records/captured-files.ts';
import type { Uploads } from './uploads.ts';

/**
 * The store as read by a process that has captures in its data directory:
 *
 *   - captures that wait for delivery are `artifact_pending`, as they can be read nowhere else, except by a process
 *     that has just made them;
 *   - captures of an earlier process that stored in the data directory can be read.
 *
 * The local copy is looked up first, then the store. A local copy is removed only once the store has the capture, so
 * this order also finds a capture that is delivered between the two lookups.
 */
export function withCopies(
  remote: ArtifactStore,
  local: ArtifactStore,
  copies?: Pick<Uploads, 'isFresh' | 'forget' | 'marked'>,
): ArtifactStore {
  async function placeOf(id: number): Promise<'remote' | 'local' | 'waiting'> {
    const copy = await local.record(id);
    if (copy === undefined) return (await local.has(id)) ? 'local' : 'remote';
    return copy.artifacts?.store === (await remote.id()) ? 'waiting' : 'local';
  }

  /** A capture that is delivered at this moment is in both places. */
  async function read<T>(id: number, from: (store: ArtifactStore) => Promise<T | undefined>, undelivered = false) {
    const place = await placeOf(id);
    if (place === 'remote') return from(remote);
    if (place === 'local') return from(local);
    const copy = undelivered || copies?.isFresh(id) === true ? await from(local) : undefined;
    const found = copy ?? (await from(remote).catch(() => undefined));
    if (found === undefined) throw new CapstanError('artifact_pending');
    return found;
  }

  return changedStore(remote, {
    info: (id, { undelivered = false } = {}) => read(id, (store) => store.info(id), undelivered),
    record: (id) => read(id, (store) => store.record(id)),
    open: (id, kind, { undelivered = false } = {}) => read(id, (store) => store.open(id, kind), undelivered),
    mark: async (id, marks) => {
      // One whose copy is damaged is marked where it can be read.
      const place = (await placeOf(id).catch(nullIfDamaged)) ?? 'remote';
      await local.mark(id, marks);
      copies?.marked(id);
      // Failed captures and captures of other stores have no marks there.
      if (place === 'waiting' || (place === 'remote' && (await remote.has(id)))) await remote.mark(id, marks);
    },
    remove: async (ids) => {
      copies?.forget(ids);
      const waiting = await local.remove(ids);
      const uploaded = await remote.remove(ids);
      // A capture that is delivered at this moment is in both places.
      const captures = Math.min(waiting.captures + uploaded.captures, ids.length);
      return { captures, bytes: captures > uploaded.captures ? waiting.bytes + uploaded.bytes : uploaded.bytes };
    },
  });
}
