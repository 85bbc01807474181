import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { storeList } from '../../src/scans/store-list.ts';

const MIB = 1024 * 1024;
/** Bytes for each target in the table of those that were seen, while it grows. */
const MAX_BYTES_OF_TARGET = 64;

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

function memory(): { readonly heap: number; readonly tables: number } {
  collectGarbage();
  const { heapUsed: heap, arrayBuffers: tables } = process.memoryUsage();
  return { heap, tables };
}

it.each([
  ['hosts', (at: number) => `host-${at}.example\n`],
  ['URLs', (at: number) => `https://host-${at % 100}.example/page/${at}?of=list\r\n`],
])('stores a long list of %s without holding more of it the longer it is', async (_, line) => {
  const COUNT = 200_000;
  const EARLY = 50_000;
  let early: ReturnType<typeof memory> | undefined;
  async function* list(): AsyncGenerator<Uint8Array, void, undefined> {
    for (let from = 0; from < COUNT; from += 1_000) {
      if (from === EARLY) early = memory();
      yield Buffer.from(Array.from({ length: 1_000 }, (_, at) => line(from + at)).join(''));
    }
  }
  let bytes = 0;
  let late: ReturnType<typeof memory> | undefined;
  const store = {
    putList: (_id: string, _part: number, part: Uint8Array) => {
      bytes += part.byteLength;
      return Promise.resolve();
    },
    cancel: () => Promise.resolve(undefined),
  };
  const { report } = await storeList(store, 'id', list(), {
    expansion: {},
    openSitemap: () => list(),
    signal: new AbortController().signal,
    requireRate: (targets) => {
      if (targets >= COUNT - 1_000) late ??= memory();
    },
  });
  expect(report).toMatchObject({ targets: COUNT, left_out: {}, problems: [] });
  expect(bytes).toBeGreaterThan(MIB / 4);
  if (early === undefined || late === undefined) throw new Error('the list was not read to its end');
  expect(late.heap - early.heap).toBeLessThan(4 * MIB);
  expect(late.tables - early.tables).toBeLessThan(COUNT * MAX_BYTES_OF_TARGET);
});
