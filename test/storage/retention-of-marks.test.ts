import { dirname } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Marks } from '../../src/capture/finding/marks.ts';
import type { Retention, RetentionOptions } from '../../src/storage/captures/retention.ts';
import { describeWithPlaces } from '../faults/killed-writers.ts';
import { keepPicture, openParts, type Parts } from './parts.ts';
import { resultOf } from './result-of.ts';
import { DAY, HOUR, idOfAge, keptIn, NOW, type RetentionLimits, retentionOf } from './retention-of.ts';

describeWithPlaces('retention by marks', (places) => {
  let parts: Parts;
  const started: Retention[] = [];
  const problems = vi.fn<(problem: unknown) => void>();

  beforeEach(async () => {
    const { dataDir, mongoUrl } = places();
    parts = await openParts(dirname(dataDir), { mongoUrl });
    problems.mockReset();
  });

  afterEach(async () => {
    for (const one of started.splice(0)) await one.stop();
    await parts.close();
  });

  function retention(limits: RetentionLimits, options: Partial<RetentionOptions> = {}): Retention {
    const made = retentionOf(parts, limits, { onProblem: problems, ...options });
    started.push(made);
    return made;
  }
  const kept = () => keptIn(parts);
  const keepAll = (ids: readonly number[]) => Promise.all(ids.map((id) => keepPicture(parts.captureStore, id)));

  /** Changes the marks of a capture as a client does. */
  const mark = (id: number, marks: Partial<Marks>) =>
    parts.captureStore.mark(id, (before) => ({ ...before, ...marks }));
  const HOLD = { at: new Date(NOW).toISOString(), by: 'root' };

  it('keeps captures by the greatest age of their labels, less than that of all or more', async () => {
    const [plain, legal, both, brief, young] = [10, 20, 5, 3, 1].map((days) => idOfAge(days * DAY));
    if (!plain || !legal || !both || !brief || !young) throw new Error('there is no id');
    await keepAll([plain, legal, both, brief, young]);
    await parts.results.insert(resultOf(idOfAge(15 * DAY), { failed: true, labels: ['legal', 'other'] }));
    await mark(legal, { labels: ['legal'] });
    await mark(both, { labels: ['brief', 'legal'] });
    await mark(brief, { labels: ['brief'] });
    await mark(young, { labels: ['brief'] });
    const ofLabels = new Map([
      ['legal', 30],
      ['brief', 2],
    ]);
    let now = NOW;
    const passed = () => now - NOW;
    const days = retention({ days: 7, ofLabels }, { clock: () => now, elapsed: passed });
    await days.pass();
    expect((await kept()).files).toEqual([young, both, legal]);
    expect((await kept()).records).toEqual([young, both, idOfAge(15 * DAY), legal]);
    // Labels alone, without an age for all other captures.
    await retention({ ofLabels: new Map([['brief', 0.5]]) }).pass();
    expect((await kept()).files).toEqual([legal]);
    now = NOW + 11 * DAY;
    await days.pass();
    expect(await kept()).toEqual({ files: [], records: [idOfAge(15 * DAY)] });
  });

  it('keeps held captures, and removes them within an hour after the hold is lifted', async () => {
    const [held, other] = [idOfAge(9 * DAY), idOfAge(8 * DAY)];
    await keepAll([held, other]);
    await mark(held, { hold: HOLD, labels: ['brief'] });
    let passed = 0;
    const days = retention({ days: 7, ofLabels: new Map([['brief', 1]]) }, { elapsed: () => passed });
    await days.pass();
    expect(await kept()).toEqual({ files: [held], records: [held] });
    await mark(held, { hold: null });
    passed = HOUR;
    await days.pass();
    expect(await kept()).toEqual({ files: [], records: [] });
    expect(problems).not.toHaveBeenCalled();
  });

  it('makes room without held captures, and says how many bytes above the limit they keep', async () => {
    const ids = [4, 3, 2, 1].map((days) => idOfAge(days * DAY));
    const [first = 0, second = 0, third = 0, fourth = 0] = ids;
    await keepAll(ids);
    await mark(first, { hold: HOLD });
    await mark(third, { hold: HOLD });
    const size = await parts.artifacts.sizeOf(first);
    const onHeld = vi.fn();
    let now = NOW;
    const options = { onHeld, clock: () => now };
    const room = retention({ bytes: Math.ceil(size * 2.5) }, options);
    await room.pass();
    expect((await kept()).files).toEqual([third, first]);
    expect(room.counts.held_bytes).toBe(0);
    expect(onHeld).not.toHaveBeenCalled();
    const less = retention({ bytes: size }, options);
    await less.pass();
    await less.pass();
    expect((await kept()).files).toEqual([third, first]);
    const { held_bytes: bytes } = less.counts;
    expect(bytes).toBe((await parts.artifacts.measure()) - size);
    expect(onHeld.mock.calls).toEqual([[bytes]]);
    await mark(third, { hold: null });
    now = NOW + HOUR;
    await less.pass();
    expect((await kept()).files).toEqual([first]);
    expect(onHeld.mock.calls).toEqual([[bytes], [0]]);
    expect([second, fourth]).toHaveLength(2);
  });

  it('removes no capture of another API key in place of held ones', async () => {
    const [held, other] = [idOfAge(3 * DAY), idOfAge(2 * DAY)];
    await keepPicture(parts.captureStore, held, { api_key_name: 'flood', hold: HOLD });
    await keepPicture(parts.captureStore, idOfAge(DAY), { api_key_name: 'flood', hold: HOLD });
    await keepPicture(parts.captureStore, other, { api_key_name: 'shop' });
    const size = await parts.artifacts.sizeOf(other);
    await retention({ bytes: size * 2 }).pass();
    expect((await kept()).files).toHaveLength(3);
  });
});
