import { expect, it } from 'vitest';
import { CollectedLines } from '../../../src/http/lines/collected-lines.ts';

it('collects lines up to its limit, and holds none beyond it', () => {
  const lines = new CollectedLines(6);
  expect(lines.text).toBe('');
  for (const line of ['ab\n', 'cd\n']) lines.add(line);
  expect(lines.text).toBe('ab\ncd\n');
  for (const line of ['e\n', 'f\n']) lines.add(line);
  expect(lines.text).toBeUndefined();
});
