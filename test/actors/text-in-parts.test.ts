import { createContext, runInContext } from 'node:vm';
import { expect, it } from 'vitest';
import { type Call, call } from '../../src/page/asking/page-scripts.ts';
import { partsOf, textBeginning } from '../../src/page/asking/text-in-parts.ts';

it('keeps the texts of one world apart, and each until it has been read', async () => {
  const world = createContext({});
  const evaluate = async (expression: Call) => runInContext(expression, world);
  const begin = async (text: string) => textBeginning.parse(await evaluate(call('valueInParts', text)));
  const read = async (beginning: Awaited<ReturnType<typeof begin>>) => {
    let text = '';
    for await (const part of partsOf(beginning, evaluate)) text += part;
    return text;
  };
  const [late, next] = ['\u{1f6a2}'.repeat(400_000), `x${'\u{1f6a2}'.repeat(262_144)}`];
  const beginnings = [await begin(late), await begin('short'), await begin(next)] as const;
  expect(await read(beginnings[2])).toBe(JSON.stringify(next));
  expect(await read(beginnings[0])).toBe(JSON.stringify(late));
  expect(await read(beginnings[0])).toMatch(/undefined$/);
});
