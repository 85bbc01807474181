import { describe, expect, it } from 'vitest';
import { NO_BROWSER, startService } from '../support/service.ts';
import { describeRemoval } from './removed-captures.ts';
import { keepCapture } from './stored-capture.ts';

describeRemoval(() => NO_BROWSER);

describe('DELETE /screenshot/:id without a usable database', () => {
  it('removes files without a database', async () => {
    const without = await startService({ ...NO_BROWSER, dbPath: null });
    await keepCapture(without.service, 51);
    for (const status of [200, 404]) {
      expect((await without.call('/screenshot/51', { method: 'DELETE' })).status).toBe(status);
    }
    await without.stop();
  });

  it('removes nothing while the database is unavailable', async () => {
    const away = await startService(NO_BROWSER);
    await keepCapture(away.service, 61);
    await away.loseDatabase();
    const response = await away.call('/screenshot/61', { method: 'DELETE' });
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ code: 'database_unavailable' });
    expect((await away.call('/screenshot/61')).status).toBe(200);
    await away.stop();
  });
});

describe('retention', () => {
  it('shows retention and the stored bytes in the stats when a limit is set', async () => {
    const app = await startService({ ...NO_BROWSER, retainDays: ['1'], retainBytes: 1e9 });
    await expect.poll(() => app.service.stats().store.bytes).toBe(0);
    await keepCapture(app.service, 1);
    const response = await app.call('/stats');
    expect(await response.json()).toMatchObject({
      data: {
        store: { bytes: expect.any(Number) },
        retention: { screenshots: 0, records: 0, bytes_freed: 0, postponed: 0 },
      },
    });
    expect(app.service.stats().store.bytes).toBe(await app.service.artifacts.measure());
    await app.stop();
  });
});
