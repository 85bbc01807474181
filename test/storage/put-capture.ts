import type { ScreenshotInfo } from '../../src/capture/artifacts/screenshot-info.ts';
import type { Result, StoredRecord } from '../../src/capture/result/result.ts';
import { screenshotInfo } from '../../src/storage/files/record-file.ts';
import type { ArtifactStore, CapturedFiles } from '../../src/storage/ports/artifact-store.ts';

/** Stores a capture without a database. */
export async function putCapture(
  store: ArtifactStore,
  record: Result | StoredRecord,
  files: CapturedFiles,
): Promise<ScreenshotInfo> {
  await store.put({ evidence: null, ...record }, files);
  return screenshotInfo(record, files.image);
}
