import type { ScreenshotInfo } from '../../capture/artifacts/screenshot-info.ts';
import { CapstanError } from '../../capture/errors.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';

/** Returns whether an operation failed because a store cannot be reached now, so that it may be retried. */
export function isAway(error: unknown): boolean {
  if (!(error instanceof CapstanError)) return false;
  return error.code === 'database_unavailable' || error.code === 'artifacts_unavailable';
}

/** Resolves with undefined when a store cannot be reached. */
export async function unlessAway<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (isAway(error)) return undefined;
    throw error;
  }
}

/** The error for a stored capture whose record cannot be read. */
export function damagedRecord(id: number, cause?: unknown): CapstanError {
  return new CapstanError('artifact_damaged', `The record of the capture ${id} is damaged in its store.`, { cause });
}

/** Returns whether an operation failed because a part of a stored capture is gone or cannot be read. */
export function isDamagedArtifact(error: unknown): boolean {
  return error instanceof CapstanError && error.code === 'artifact_damaged';
}

/** Returns null for a stored capture that cannot be read; throws any other error. */
export function nullIfDamaged(error: unknown): null {
  if (isDamagedArtifact(error)) return null;
  throw error;
}

/** Returns what is known of a stored capture; undefined when there is none, or when its record is damaged. */
export async function infoIfReadable(
  artifacts: Pick<ArtifactStore, 'info'>,
  id: number,
  how?: Parameters<ArtifactStore['info']>[1],
): Promise<ScreenshotInfo | undefined> {
  return (await artifacts.info(id, how).catch(nullIfDamaged)) ?? undefined;
}
