import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setImmediate as immediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { type Gauge, openGauge } from '../../src/pressure/gauge.ts';
import { blockFor } from '../support/block-for.ts';

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
    gauge = openGauge(100);
    const before = gauge.read().rssBytes;
    const ballast = Buffer.alloc(256 * 1024 * 1024, 1);
    blockFor(100);
    const { rssBytes, cpu } = gauge.read();
    expect(rssBytes - before).toBeGreaterThan(ballast.length / 2);
    expect(cpu).toBeGreaterThan(0);
    expect(cpu).toBeLessThanOrEqual(1);
  });

  it('keeps reading without a free file descriptor, and reports that none is free', async () => {
    const gaugeFile = join(import.meta.dirname, '../../src/pressure/gauge.ts');
    const program = `
      import { openSync } from 'node:fs';
      import { openGauge } from ${JSON.stringify(gaugeFile)};
      const gauge = openGauge(1000);
      gauge.read();
      try { for (;;) openSync('/dev/null', 'r'); } catch {}
      const { descriptors, rssBytes, cpu } = gauge.read();
      process.stdout.write(JSON.stringify({ descriptors, rssBytes, cpu }));
    `;
    const args = ['-c', 'ulimit -n 64; exec "$0" "$@"', process.execPath, '--input-type=module', '-e', program];
    const { stdout } = await promisify(execFile)('sh', args);
    const reading = JSON.parse(stdout);
    expect(reading.descriptors).toEqual({ open: 64, limit: 64 });
    expect(reading.rssBytes).toBeGreaterThan(0);
    expect(reading.cpu).toBe(0);
  });
});
