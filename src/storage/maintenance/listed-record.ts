import { errorText } from '../../capture/basics/error-text.ts';
import type { StoredRecord } from '../../capture/result/result.ts';
import { isAway } from '../failures/store-errors.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';

/**
 * Returns the record of a capture that `oldest` has listed: undefined when a running service has removed it meanwhile,
 * null when it cannot be read, which is reported.
 */
export async function listedRecord(
  artifacts: ArtifactStore,
  id: number,
  report: (line: string) => void,
): Promise<StoredRecord | null | undefined> {
  const unreadable = (reason: string) => {
    report(`capture ${id}: its record cannot be read: ${reason}`);
    return null;
  };
  try {
    const record = await artifacts.record(id);
    // The empty copy of a failed capture is listed, and has no record.
    return record === undefined && (await isListed(artifacts, id)) ? unreadable('incomplete or missing') : record;
  } catch (error) {
    if (isAway(error)) throw error;
    return unreadable(errorText(error));
  }
}

async function isListed(artifacts: ArtifactStore, id: number): Promise<boolean> {
  for await (const next of artifacts.oldestAfter(id - 1)) return next === id;
  return false;
}
