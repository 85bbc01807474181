import type { ScreenshotInfo } from '../../capture/artifacts/screenshot-info.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { changedStore } from '../records/captured-files.ts';

/**
 * The store as clients read it: without captures whose removal has begun. Their records may be gone while their files
 * are still there, as after a crash, until the removal is completed.
 */
export function withoutRemoved(store: ArtifactStore, isRemoved: (id: number) => boolean): ArtifactStore {
  /** Reads further to replace removed captures: a list shorter than `limit` means that no more captures follow. */
  async function list(limit: number, before?: number): Promise<readonly ScreenshotInfo[]> {
    const kept: ScreenshotInfo[] = [];
    for (let below = before; ; ) {
      const found = await store.list(limit, below);
      kept.push(...found.filter(({ id }) => !isRemoved(id)));
      if (kept.length >= limit || found.length < limit) return kept.slice(0, limit);
      below = found.at(-1)?.id;
    }
  }

  return changedStore(store, {
    has: async (id) => !isRemoved(id) && store.has(id),
    info: async (id, how) => (isRemoved(id) ? undefined : store.info(id, how)),
    record: async (id) => (isRemoved(id) ? undefined : store.record(id)),
    open: async (id, kind, how) => (isRemoved(id) ? undefined : store.open(id, kind, how)),
    list,
  });
}
