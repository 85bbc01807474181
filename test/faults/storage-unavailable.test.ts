import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ground, serve } from '../commands/capstan-process.ts';
import { eventually } from '../support/eventually.ts';
import { siteForSuite } from '../support/for-suite.ts';
import { capture } from './client.ts';

const site = siteForSuite();

describe('a service whose data directory cannot be written', () => {
  it('answers 503, is not ready, and recovers without a restart', async () => {
    await using place = await ground();
    const service = await serve(
      ['--allow-targets', '127.0.0.1', '--db-path', 'results.db', '--data-dir', 'data'],
      place.options,
    );
    const url = site.url('/title?t=kept');
    const ready = async () => {
      const response = await fetch(`${service.url}/readyz`);
      return { status: response.status, body: await response.json() };
    };
    await eventually(ready).toMatchObject({ status: 200, body: { data: { status: 'ready', degraded: [] } } });
    const inTheWay = join(place.path, 'data', 'captures');
    await rm(inTheWay, { recursive: true, force: true });
    await writeFile(inTheWay, '');
    expect(await capture(service.url, { url })).toMatchObject({ status: 503, code: 'storage_unavailable' });
    expect(await ready()).toMatchObject({ status: 503, body: { code: 'storage_unavailable' } });
    await rm(inTheWay);
    await expect.poll(async () => (await ready()).status, { timeout: 20_000 }).toBe(200);
    expect(await capture(service.url, { url })).toMatchObject({ status: 200 });
    service.child.kill('SIGTERM');
    expect(await service.ended).toMatchObject({ code: 0 });
  }, 120_000);
});
