import type { ArtifactStore } from '../artifact-store.ts';

/**
 * The store as clients read it: without captures whose removal has begun. Their records may be gone while their files
 * are still there, as after a crash, until the removal is completed.
 */
export function withoutRemoved(store: ArtifactStore, isRemoved: (id: number) => boolean): ArtifactStore {
  return {
    ...store,
    get bytes() {
      return store.bytes;
    },
    has: async (id) => !isRemoved(id) && store.has(id),
    info: async (id, how) => (isRemoved(id) ? undefined : store.info(id, how)),
    record: async (id) => (isRemoved(id) ? undefined : store.record(id)),
    open: async (id, kind, how) => (isRemoved(id) ? undefined : store.open(id, kind, how)),
    list: async (limit, before) => (await store.list(limit, before)).filter(({ id }) => !isRemoved(id)),
  };
}
