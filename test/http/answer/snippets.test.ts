import { expect, it } from 'vitest';
import { packWords } from '../../../src/capture/result/page-words.ts';
import { withSnippets } from '../../../src/http/answer/snippets.ts';
import { exampleId, exampleResult } from '../../support/example-result.ts';

it('reads the words of a few pages at once, and none without a condition on words', async () => {
  const asked: number[] = [];
  const words = packWords({ text: 'a red ferrari', places: [] });
  const results = {
    wordsOf: (ids: readonly number[]) => {
      asked.push(ids.length);
      return Promise.resolve(new Map(ids.map((id) => [id, words])));
    },
  };
  const found = Array.from({ length: 25 }, (_, at) => exampleResult(exampleId(at)));
  expect(await withSnippets(results, undefined, found)).toEqual(found);
  expect(asked).toEqual([]);
  const shown = await withSnippets(results, 'ferrari', found);
  expect(asked).toEqual([10, 10, 5]);
  expect(shown.map(({ snippets }) => snippets?.[0]?.text)).toEqual(found.map(() => 'a red ferrari'));
});
