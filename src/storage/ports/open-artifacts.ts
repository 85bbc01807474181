import type { ArtifactStore } from './artifact-store.ts';
import type { LocalCopies } from './local-copies.ts';
import type { HeldLock } from './lock.ts';

/** An open artifact store, and what a process needs to use it. */
export interface OpenArtifacts {
  readonly artifacts: ArtifactStore;
  readonly copies: LocalCopies;
  /** Takes the lock of the retention; undefined when another process holds it. Never rejects. */
  lock(): Promise<HeldLock | undefined>;
  stop(): Promise<void>;
}
