import { expect, it } from 'vitest';
import type { Result } from '../../src/capture/result/result.ts';
import { createGroupings } from '../../src/grouping/groupings.ts';

it('groups for one key at a time, and refuses a key whose share of the waiting groupings is used', async () => {
  const groupings = createGroupings();
  const reads: PromiseWithResolvers<readonly Result[]>[] = [];
  const results = {
    page: () => {
      const read = Promise.withResolvers<readonly Result[]>();
      reads.push(read);
      return read.promise;
    },
  };
  const ended: unknown[] = [];
  const group = (owner: string) =>
    groupings.of(owner, results, { by: 'all' }, 'title', 10).then(
      () => ended.push('grouped'),
      (error: unknown) => ended.push(error),
    );
  const all = Array.from({ length: 60 }, () => group('flood'));
  await expect.poll(() => ended.length).toBe(34);
  for (const refused of ended) expect(refused).toMatchObject({ code: 'queue_full' });
  expect(reads).toHaveLength(1);
  all.push(group('shop'));
  reads[0]?.resolve([]);
  for (let at = 1; at < 27; at += 1) {
    await expect.poll(() => reads.length).toBeGreaterThan(at);
    reads[at]?.resolve([]);
  }
  await Promise.all(all);
  expect(ended.filter((end) => end === 'grouped')).toHaveLength(27);
});
