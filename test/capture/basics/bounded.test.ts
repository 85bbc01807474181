import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { bounded } from '../../../src/capture/basics/bounded.ts';

it.each([
  ['short', 'short'],
  ['\ufeffcut off here', '\ufeffcut off'],
  ['seven …😀', 'seven …\ufffd'],
  ['lone \ud83d', 'lone \ufffd'],
])('cuts a text without splitting a surrogate pair: %j', (text, cut) => {
  expect(bounded(text, 8)).toBe(cut);
});

it('keeps nothing of the rest of a text that is cut', () => {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  collect();
  const before = process.memoryUsage().heapUsed;
  const kept = Array.from({ length: 200 }, (_, i) => bounded(JSON.parse(`"${i}${'x'.repeat(250_000)}"`), 256));
  collect();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(10_000_000);
  expect(kept).toHaveLength(200);
});
