import { firstValueFrom } from 'rxjs';
import { expect, it } from 'vitest';
import { createWorkInTurn } from '../../src/fairness/work-in-turn.ts';

/** Starts works that last until they are ended, and notes the owners of those that run. */
function works(turns: ReturnType<typeof createWorkInTurn>) {
  const running: string[] = [];
  const ends: (() => void)[] = [];
  return {
    running,
    start: (owner: string | null) =>
      firstValueFrom(
        turns.run(owner, () => {
          const end = Promise.withResolvers<void>();
          running.push(String(owner));
          ends.push(end.resolve);
          return end.promise;
        }),
        { defaultValue: undefined },
      ),
    end: () => ends.shift()?.(),
  };
}

it('lets one owner take all places when none are shared', () => {
  const { running, start } = works(createWorkInTurn(4));
  for (let n = 0; n < 5; n += 1) void start('a');
  expect(running).toEqual(['a', 'a', 'a', 'a']);
});

it('leaves half of the free places to others when they are shared, and goes on when a work ends', async () => {
  const { running, start, end } = works(createWorkInTurn(4, true));
  const [first] = ['a', 'a', 'a'].map(start);
  expect(running).toEqual(['a', 'a']);
  for (const owner of ['b', 'b', 'c', 'd']) void start(owner);
  expect(running).toEqual(['a', 'a', 'b', 'c']);
  end();
  await first;
  expect(running).toEqual(['a', 'a', 'b', 'c', 'd']);
});
