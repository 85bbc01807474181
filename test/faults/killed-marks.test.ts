import { expect, it } from 'vitest';
import { marksOf } from '../../src/storage/records/marks.ts';
import { createStorage } from '../../src/storage/storage.ts';
import { describeWithPlaces, writeUntil } from './killed-writers.ts';

const ROUNDS = [1, 6, 17];

describeWithPlaces('marks of captures', (places) => {
  it('have every change that was answered, in the database and in the files, whenever the process is killed', async () => {
    await writeUntil(8, 'store', places(), 0);
    const answered: string[] = [];
    for (const [round, lines] of ROUNDS.entries()) answered.push(...(await writeUntil(lines, 'mark', places(), round)));
    const labels = Map.groupBy(
      answered.map((line) => line.split(' ')),
      ([id]) => Number(id),
    );
    const { results, artifacts, captureStore, close } = await createStorage(places());
    try {
      for (const [id, marked] of labels) {
        const of = marked.flatMap(([, label = '']) => label);
        for (const record of [await results.get(id), await artifacts.record(id)]) {
          expect(record).toMatchObject({ labels: expect.arrayContaining(of), hold: { by: 'root' } });
        }
        const where = { label: of.slice(-1), held: 'true' } as const;
        expect((await results.page({ by: 'all', where }, 10)).map((found) => found.id)).toEqual([id]);
      }
      const ids = [...labels.keys()];
      expect((await captureStore.remove(ids)).held.toSorted()).toEqual(ids.toSorted());
      for (const id of ids) {
        await captureStore.mark(id, (marks) => ({ ...marks, note: 'after' }));
        const [stored, kept] = [await results.get(id), await artifacts.record(id)];
        expect(kept && marksOf(kept)).toEqual(stored && marksOf(stored));
      }
    } finally {
      await close();
    }
  });
});
