import { randomUUID } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { DetailedResult } from '../../capture/result.ts';
import type { DataDirectory } from './data-directory.ts';
import { ifThere, moveInto, syncDirectory } from './directories.ts';
import { writeDurably } from './durable-file.ts';
import { directoriesAbove, failedRecordFile } from './layout.ts';
import { recordInInfo } from './screenshot-info.ts';
import { exists } from './workspace.ts';

/* A failed capture has no directory: its record is one file beside the captures of its minute. */

/** Writes the record durably and returns its bytes: 0 when there is one with this id, which stays as it is. */
export async function writeFailedRecord(data: DataDirectory, record: DetailedResult): Promise<number> {
  const target = failedRecordFile(data.path, record.id);
  if (await exists(target)) return 0;
  const content = JSON.stringify({ record });
  await data.use(async ({ staging }) => {
    const draft = join(staging, `failed-${record.id}-${randomUUID()}`);
    try {
      await writeDurably(draft, content);
      await moveInto(draft, target);
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
  });
  await Promise.all(directoriesAbove(data.path, record.id).map(syncDirectory));
  return Buffer.byteLength(content);
}

/** Reads the record of a failed capture; undefined when there is none. */
export async function readFailedRecord(dataDir: string, id: number): Promise<DetailedResult | undefined> {
  const text = await ifThere(readFile(failedRecordFile(dataDir, id), 'utf8'));
  return text === undefined ? undefined : recordInInfo(text);
}
