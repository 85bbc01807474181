import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setImmediate as immediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { type Gauge, openGauge } from '../../src/pressure/gauge.ts';
import { blockFor } from '../support/block-for.ts';

const GAUGE = join(import.meta.dirname, '../../src/pressure/gauge.ts');
const BALLAST_BYTES = 256 * 1024 * 1024;

describe('openGauge', () => {
  let gauge: Gauge | undefined;

  afterEach(() => gauge?.close());

  it('measures a blocked event loop in the middle of its interval', async () => {
    const opened = openGauge(600_000);
    gauge = opened;
    const read = () => opened.read().eventLoopDelayMs;
    // The histogram starts with its first sample, so it may miss the first block.
    const readAfterBlock = async () => {
      blockFor(800);
      await immediate();
      await immediate();
      return read();
    };
    await expect.poll(readAfterBlock).toBeGreaterThan(700);
    await expect.poll(read).toBeLessThan(700);
  });

  it('measures a block as long as its interval', async () => {
    gauge = openGauge(50);
    gauge.read();
    blockFor(400);
    expect(gauge.read().eventLoopDelayMs).toBeGreaterThan(300);
  });

  it('measures the memory of the process and the load of the processors', async () => {
    const { before, after, cpu } = await inOwnProcess(`
      const gauge = openGauge(100);
      const before = gauge.read().rssBytes;
      const ballast = Buffer.alloc(${BALLAST_BYTES}, 1);
      await setTimeout(100);
      const { rssBytes: after, cpu } = gauge.read();
      gauge.close();
      process.stdout.write(JSON.stringify({ before, after, cpu, ballast: ballast.length }));
    `);
    expect(after - before).toBeGreaterThan(BALLAST_BYTES / 2);
    expect(cpu).toBeGreaterThan(0);
    expect(cpu).toBeLessThanOrEqual(1);
  });

  it('keeps reading without a free file descriptor, and reports that none is free', async () => {
    const reading = await inOwnProcess(`
      const gauge = openGauge(1000);
      gauge.read();
      try { for (;;) openSync('/dev/null', 'r'); } catch {}
      const { descriptors, rssBytes, cpu } = gauge.read();
      process.stdout.write(JSON.stringify({ descriptors, rssBytes, cpu }));
    `);
    expect(reading.descriptors).toEqual({ open: 64, limit: 64 });
    expect(reading.rssBytes).toBeGreaterThan(0);
    expect(reading.cpu).toBe(0);
  });
});

/**
 * Runs a program that uses a gauge, with 64 file descriptors, and returns the JSON that it prints. The process of the
 * tests is no place for this: it frees the memory of other tests at any time.
 */
async function inOwnProcess(program: string) {
  const source = `
    import { openSync } from 'node:fs';
    import { setTimeout } from 'node:timers/promises';
    import { openGauge } from ${JSON.stringify(GAUGE)};
    ${program}
  `;
  const args = ['-c', 'ulimit -n 64; exec "$0" "$@"', process.execPath, '--input-type=module', '-e', source];
  const { stdout } = await promisify(execFile)('sh', args);
  return JSON.parse(stdout);
}
