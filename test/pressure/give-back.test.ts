import { execFileSync } from 'node:child_process';
import { load } from 'koffi';
import { describe, expect, it } from 'vitest';
import { giveBackWhenIdle, trimAllocator } from '../../src/pressure/give-back.ts';

const MIB = 1024 ** 2;

/** Returns after which readings memory is given back: one a second, of resident memory and active captures. */
function givenBack(readings: readonly (readonly [mib: number, active: number])[]): readonly number[] {
  const at: number[] = [];
  let now = 0;
  const note = giveBackWhenIdle(() => at.push(now));
  for (const [mib, active] of readings) {
    now += 1;
    note({ rssBytes: mib * MIB, eventLoopDelayMs: 0, memory: null, descriptors: null, cpu: 0 }, active);
  }
  return at;
}

const seconds = (count: number, mib: number, active = 0) => Array.from({ length: count }, () => [mib, active] as const);

describe('giveBackWhenIdle', () => {
  it('gives memory back four times, every 10 s, when the service is idle after it had grown', () => {
    expect(givenBack([...seconds(1, 300), ...seconds(5, 500, 2), ...seconds(60, 500)])).toEqual([16, 26, 36, 46]);
  });

  it('gives memory back again later when captures ran meanwhile', () => {
    const first = [...seconds(1, 300), ...seconds(10, 500)];
    expect(givenBack([...first, ...seconds(5, 500), ...seconds(5, 500, 1), ...seconds(60, 500)])).toEqual([
      10, 31, 41, 51,
    ]);
  });

  it('gives nothing back while captures run, or when little was taken', () => {
    expect(givenBack([...seconds(1, 300), ...seconds(60, 500, 1)])).toEqual([]);
    expect(givenBack([...seconds(1, 300), ...seconds(60, 331)])).toEqual([]);
  });

  it('gives back again only what was taken since', () => {
    const first = [...seconds(1, 300), ...seconds(10, 500)];
    expect(givenBack([...first, ...seconds(60, 420)])).toEqual([10, 20, 30, 40]);
    expect(givenBack([...first, ...seconds(40, 420), ...seconds(45, 460)])).toEqual([10, 20, 30, 40, 52, 62, 72, 82]);
  });
});

describe('collectSoon', () => {
  it('makes V8 collect garbage and return memory in a process that no longer allocates', () => {
    // Large bodies among live objects: V8 goes on to believe that much is allocated.
    const source = `
      import { setTimeout as delay } from 'node:timers/promises';
      import { collectSoon } from '${new URL('../../src/pressure/give-back.ts', import.meta.url)}';
      globalThis.live = Array.from({ length: 300_000 }, (_, at) => ({ at, text: 'a' + at, list: [at] }));
      const body = (at) => JSON.stringify(Array.from({ length: 50 }, (_, part) => 'x'.repeat(10_000) + at + part));
      let kept = [];
      for (let at = 0; at < 160; at += 1) {
        kept.push(JSON.parse(body(at)));
        if (at % 4 === 0) await delay(1);
      }
      const before = process.memoryUsage().heapTotal;
      kept = undefined;
      await delay(1000);
      collectSoon();
      while (process.memoryUsage().heapTotal > before / 2) await delay(500);`;
    execFileSync(process.execPath, ['--input-type=module', '--eval', source], { timeout: 60_000 });
  }, 70_000);
});

describe.runIf(process.platform === 'linux')('trimAllocator', () => {
  it('returns free memory between allocations to the system', async () => {
    const libc = load(null);
    const malloc = libc.func('void *malloc(size_t)');
    const memset = libc.func('void *memset(void *, int, size_t)');
    const free = libc.func('void free(void *)');
    // Too small for mappings of their own, and every tenth stays.
    const blocks: readonly unknown[] = Array.from({ length: 2000 }, () => memset(malloc(60_000), 1, 60_000));
    const kept = blocks.filter((_, at) => at % 10 === 0);
    for (const block of blocks) if (!kept.includes(block)) free(block);
    const before = process.memoryUsage.rss();
    await trimAllocator();
    expect(before - process.memoryUsage.rss()).toBeGreaterThan(20 * MIB);
    for (const block of kept) free(block);
  });
});

describe.runIf(process.platform === 'linux')('returnLargeBlocks', () => {
  it('returns blocks of 1 MiB to the system as they are freed, also after larger ones', () => {
    const source = `
      import { load } from 'koffi';
      import { returnLargeBlocks } from '${new URL('../../src/pressure/give-back.ts', import.meta.url)}';
      await returnLargeBlocks();
      const libc = load(null);
      const malloc = libc.func('void *malloc(size_t)');
      const memset = libc.func('void *memset(void *, int, size_t)');
      const free = libc.func('void free(void *)');
      const filled = (bytes) => memset(malloc(bytes), 1, bytes);
      // From then on, glibc itself keeps blocks of up to this size.
      free(filled(24 * ${MIB}));
      const blocks = Array.from({ length: 40 }, () => filled(${MIB}));
      const before = process.memoryUsage.rss();
      blocks.forEach(free);
      console.log(before - process.memoryUsage.rss());`;
    const options = { cwd: import.meta.dirname, encoding: 'utf8' } as const;
    const returned = execFileSync(process.execPath, ['--input-type=module', '--eval', source], options);
    expect(Number(returned)).toBeGreaterThan(30 * MIB);
  });
});
