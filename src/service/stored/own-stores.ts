import type { ScreenshotInfo } from '../../capture/artifacts/screenshot-info.ts';
import { isOfKey } from '../../capture/client.ts';
import { infoIfReadable } from '../../storage/failures/store-errors.ts';
import { endsList, type Keyset, keysetOf, type ResultStore } from '../../storage/ports/result-store.ts';
import { timeOfId } from '../../storage/records/ids.ts';
import type { ServiceView } from '../capture-service.ts';

/* The stores in the view of a client that may see only the captures of one API key, see `own-captures.ts`. */

/** Returns the id under which a view looks for a capture. */
export type Seen = (id: number) => Promise<number>;

/** Returns the records of one key. */
export function ownResults(results: ResultStore, key: string, seen: Seen): ServiceView['results'] {
  return {
    get state() {
      return results.state;
    },
    get: async (id) => {
      const record = await results.get(await seen(id));
      return record !== undefined && isOfKey(record, key) ? record : undefined;
    },
    records: (ids) => results.records(ids, key),
    page: (wanted, limit, after) => results.page({ ...wanted, ofKey: key }, limit, after),
    similar: (likeness, limit) => results.similar({ ...likeness, ofKey: key }, limit),
    wordsOf: (ids) => results.wordsOf(ids, key),
  };
}

/** Returns the files of the captures of one key. `results`: the records of these captures. */
export function ownArtifacts(
  artifacts: ServiceView['artifacts'],
  { results, key, seen }: { readonly results: ServiceView['results']; readonly key: string; readonly seen: Seen },
): ServiceView['artifacts'] {
  /** Reads the key before anything else, also of a capture that waits for delivery. */
  const ownInfo = async (id: number) => {
    const about = await artifacts.info(await seen(id), { undelivered: true });
    return about !== undefined && isOfKey(about, key) ? about : undefined;
  };
  const isOwn = async (id: number) => (await ownInfo(id)) !== undefined;
  return {
    has: async (id) => (await isOwn(id)) && artifacts.has(id),
    info: async (id, how) => {
      const about = await ownInfo(id);
      return about === undefined || how?.undelivered === true ? about : artifacts.info(id, how);
    },
    record: async (id) => ((await isOwn(id)) ? artifacts.record(id) : undefined),
    open: async (id, kind, how) => ((await isOwn(id)) ? artifacts.open(id, kind, how) : undefined),
    list: (limit, before) => listOwn(artifacts, results, limit, before),
  };
}

/** Reads the list from the database, whose index has the keys: the store would read the captures of every key. */
async function listOwn(
  artifacts: ServiceView['artifacts'],
  results: ServiceView['results'],
  limit: number,
  before: number | undefined,
): Promise<readonly ScreenshotInfo[]> {
  const infos: ScreenshotInfo[] = [];
  for (let after = await keysetBefore(results, before); infos.length < limit; ) {
    // Little more than is missing: the info of each record is read from the artifact store. Where many records are left
    // out, pages stay large.
    const wanted = Math.max(limit - infos.length, Math.floor(limit / 4));
    const page = await results.page({ by: 'all', where: { outcome: 'stored' } }, wanted, after);
    // Left out: captures whose files another store has, and captures whose record is damaged.
    const found = await Promise.all(page.map(({ id }) => infoIfReadable(artifacts, id, { undelivered: true })));
    infos.push(...found.filter((info) => info !== undefined));
    const last = page.at(-1);
    if (last === undefined || endsList(page, wanted)) break;
    after = keysetOf(last);
  }
  return infos.slice(0, limit);
}

async function keysetBefore(results: ServiceView['results'], id: number | undefined): Promise<Keyset | undefined> {
  if (id === undefined) return undefined;
  const record = await results.get(id);
  // Without the record, which was removed meanwhile, the time in the id is the nearest that is known.
  return { probedAt: record?.probed_at ?? timeOfId(id).toISOString(), id };
}
