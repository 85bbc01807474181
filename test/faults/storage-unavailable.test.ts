import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ground, serve } from '../commands/capstan-process.ts';
import { siteForSuite } from '../support/for-suite.ts';
import { capture, readiness } from './client.ts';
import { linesAboutStoring } from './lines-about-storing.ts';

const site = siteForSuite();

describe('a service whose data directory cannot be written', () => {
  it('answers 503, is not ready, recovers without a restart, and logs one error with the cause and one recovery', async () => {
    const place = await ground();
    const service = await serve(
      ['--allow-targets', '127.0.0.1', '--db-path', 'results.db', '--data-dir', 'data'],
      place.options,
    );
    const url = site.url('/title?t=kept');
    const ready = () => readiness(service.url);
    await expect.poll(ready).toEqual({ status: 200, code: '', degraded: [] });
    const inTheWay = join(place.path, 'data', 'captures');
    await rm(inTheWay, { recursive: true, force: true });
    await writeFile(inTheWay, '');
    for (let count = 0; count < 2; count += 1) {
      expect(await capture(service.url, { url })).toMatchObject({ status: 503, code: 'storage_unavailable' });
    }
    expect(await ready()).toMatchObject({ status: 503, code: 'storage_unavailable' });
    await rm(inTheWay);
    await expect.poll(async () => (await ready()).status).toBe(200);
    expect(await capture(service.url, { url })).toMatchObject({ status: 200 });
    service.child.kill('SIGTERM');
    const ended = await service.ended;
    expect(ended.code).toBe(0);
    expect(linesAboutStoring(ended)).toEqual([
      {
        ...{ level: 'error', code: 'storage_unavailable', cause: expect.stringMatching(/^(ENOTDIR|EEXIST)$/) },
        msg: expect.stringMatching(/^captures cannot be stored: .* \((ENOTDIR|EEXIST)\)\.$/),
      },
      { level: 'info', msg: 'captures can be stored again' },
    ]);
  });
});
