import { setImmediate as nextTurn } from 'node:timers/promises';
import { firstValueFrom } from 'rxjs';
import { createWorkInTurn } from '../../fairness/work-in-turn.ts';

/*
 * Work that takes many steps: answers that are read in pages while they are sent, and changes of many captures. At most
 * two steps run at once, each in a turn of the event loop of its own; all at once would hold up every other request.
 * Measured: 60 exports of records of 3 kB, with and without turns: the longest turn is 45 ms and 1.2 s.
 */

const stepsInTurn = createWorkInTurn(2);

/** Resolves with the result of `work` in a turn of its own. Owners take turns. */
export function inTurn<T>(owner: string | null, work: () => Promise<T>): Promise<T> {
  const inOwnTurn = async () => {
    await nextTurn();
    return await work();
  };
  return firstValueFrom(stepsInTurn.run(owner, inOwnTurn));
}

/** Generates what `textOf` makes of each page. */
export async function* textsOf<Page>(
  owner: string | null,
  pages: AsyncIterator<Page>,
  textOf: (page: Page) => string | Promise<string>,
): AsyncGenerator<string> {
  const nextText = async () => {
    const { done, value } = await pages.next();
    return done ? undefined : await textOf(value);
  };
  for (;;) {
    const text = await inTurn(owner, nextText);
    if (text === undefined) return;
    yield text;
  }
}
