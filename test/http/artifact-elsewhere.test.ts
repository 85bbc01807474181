import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { siteForSuite } from '../support/for-suite.ts';
import { NO_BROWSER, type RunningService, startService } from '../support/service.ts';

const Captured = z.object({ data: z.object({ id: z.int() }) });
const site = siteForSuite();

describe('two services with one database and two data directories', () => {
  let first: RunningService;
  let second: RunningService;
  let id: number;

  beforeAll(async () => {
    first = await startService();
    const response = await first.post('/screenshot', { url: site.url('/short') });
    id = Captured.parse(await response.json()).data.id;
    const dbPath = join(first.directory, 'results.db');
    const dataDir = join(first.directory, 'other');
    // Marks the directory first; otherwise an empty one would be reported as a lost mount.
    const marking = await startService({ ...NO_BROWSER, dbPath: null, dataDir });
    await marking.service.artifacts.id();
    await marking.stop();
    second = await startService({ dbPath, dataDir });
  });

  afterAll(async () => {
    await second?.stop();
    await first?.stop();
  });

  it('answers 421 when the service does not have the files', async () => {
    for (const path of [`/screenshot/${id}`, `/screenshot/${id}?view=html`, `/screenshot/${id}?view=metadata`]) {
      const response = await second.call(path);
      expect(response.status).toBe(421);
      expect(await response.json()).toMatchObject({ code: 'artifact_elsewhere' });
    }
    expect((await second.call(`/results/${id}`)).status).toBe(200);
    expect((await second.call('/screenshot/17')).status).toBe(404);
  });

  it('refuses to remove a capture whose files it does not have', async () => {
    expect((await second.call(`/screenshot/${id}`, { method: 'DELETE' })).status).toBe(421);
    expect((await first.call(`/screenshot/${id}`)).status).toBe(200);
    expect((await first.call(`/results/${id}`)).status).toBe(200);
  });

  it('does not reuse a capture whose files it does not have', async () => {
    const wanted = { url: site.url('/short'), cacheMaxAgeMs: 3_600_000 };
    const headers = { Accept: 'image/png' };
    const response = await second.post('/screenshot', wanted, { headers });
    expect(response.status).toBe(200);
    expect(response.headers.get('X-Capture-Cached')).toBeNull();
    const again = await first.post('/screenshot', wanted, { headers });
    expect(again.headers.get('X-Capture-Cached')).toBe('true');
  });
});
