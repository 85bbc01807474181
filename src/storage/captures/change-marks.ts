import type { Marks } from '../../capture/finding/marks.ts';
import type { Result } from '../../capture/result/result.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import type { ResultStore } from '../ports/result-store.ts';
import { marksOf, sameMarks } from '../records/marks.ts';
import { withoutEvidence } from '../records/record.ts';

interface Stores {
  readonly results: Pick<ResultStore, 'get' | 'mark'>;
  readonly artifacts: Pick<ArtifactStore, 'mark'>;
}

/** The marks before a change, and the record after it. */
export interface MarkedCapture {
  readonly before: Marks;
  readonly record: Result;
}

/** See `CaptureStore.mark`. */
export async function changeMarks(
  id: number,
  change: (marks: Marks) => Marks,
  stores: Stores,
): Promise<MarkedCapture | undefined> {
  for (;;) {
    const found = await stores.results.get(id);
    if (found === undefined) return undefined;
    const before = marksOf(found);
    const after = change(before);
    if (!sameMarks(before, after) && !(await stores.results.mark(id, before, after))) continue;
    await copyMarks(id, after, stores);
    return { before, record: { ...withoutEvidence(found), ...after } };
  }
}

/** Several changes may end in any order: each writes until the record has the marks of the database. */
async function copyMarks(id: number, after: Marks, { results, artifacts }: Stores): Promise<void> {
  for (let written = after; ; ) {
    await artifacts.mark(id, written);
    const record = await results.get(id);
    if (record === undefined || sameMarks(record, written)) return;
    written = marksOf(record);
  }
}
