import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { siteForSuite } from '../support/for-suite.ts';
import { ground, serve } from './capstan-process.ts';

const Stats = z.object({
  data: z.object({
    queue: z.object({ running: z.number(), max_concurrent: z.number(), max_queue: z.number() }),
    captures: z.object({ accepted: z.number(), inside: z.number() }),
  }),
});

describe('SIGHUP of capstan serve', () => {
  const site = siteForSuite();

  it('applies the limits of the file to running captures, reports options that need a restart, and survives an invalid file', async () => {
    await using place = await ground();
    const file = join(place.path, 'capstan.json');
    const configure = (options: Readonly<Record<string, unknown>>) =>
      writeFile(file, JSON.stringify({ allowTargets: '127.0.0.1', apiKey: 'sesame', ...options }));
    await configure({ maxConcurrent: 1, maxQueue: 5 });
    const service = await serve(['--config', file, '--max-batch', '9'], place.options);
    let said = '';
    service.child.stderr?.on('data', (chunk) => {
      said += String(chunk);
    });
    const headers = { 'X-API-Key': 'sesame', 'Content-Type': 'application/json' };
    const stats = async () => Stats.parse(await (await fetch(`${service.url}/stats`, { headers })).json()).data;
    const limits = async () => {
      const { max_concurrent, max_queue } = (await stats()).queue;
      return [max_concurrent, max_queue];
    };

    const leaving = new AbortController();
    const captures = [1, 2].map(() =>
      fetch(`${service.url}/screenshot`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ url: site.url('/hang') }),
        signal: leaving.signal,
      }).catch(() => null),
    );
    await expect.poll(async () => (await stats()).captures.inside, { timeout: 10_000 }).toBe(2);
    expect(await limits()).toEqual([1, 5]);

    await configure({ maxConcurrent: 2, maxQueue: 7, maxBatch: 8, timeoutMs: 1234, apiKey: 'hush-hush' });
    service.child.kill('SIGHUP');
    await expect.poll(limits, { timeout: 10_000 }).toEqual([2, 7]);
    await expect.poll(() => site.hits('/hang'), { timeout: 10_000 }).toBe(2);
    expect(await stats()).toMatchObject({ queue: { running: 2 }, captures: { accepted: 2, inside: 2 } });

    await configure({ maxConcurrent: 0, maxQueue: 9 });
    service.child.kill('SIGHUP');
    await expect.poll(() => said, { timeout: 10_000 }).toMatch(/SIGHUP changed nothing: --max-concurrent 0/);
    await writeFile(file, '{"maxQueue');
    service.child.kill('SIGHUP');
    await expect.poll(() => said, { timeout: 10_000 }).toMatch(/SIGHUP changed nothing: .*it takes JSON/);
    expect(await limits()).toEqual([2, 7]);

    leaving.abort();
    await Promise.all(captures);
    service.child.kill('SIGTERM');
    const { code, stderr } = await service.ended;
    expect(code).toBe(0);
    const lines = stderr.split('\n');
    // Names the key without its value, and omits options that a flag sets.
    expect(lines.filter((line) => line.includes('after a restart'))).toEqual([
      expect.stringContaining('"options":["apiKey","timeoutMs"]'),
    ]);
    expect(stderr).not.toContain('hush-hush');
  });
});
