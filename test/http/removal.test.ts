import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { putCapture } from '../../src/storage/artifact-store.ts';
import { serviceForSuite } from '../support/for-suite.ts';
import { NO_BROWSER, startService } from '../support/service.ts';
import { idsOf } from './answers.ts';
import { keepCapture, resultOf } from './stored-capture.ts';

describe('DELETE /screenshot/:id', () => {
  const app = serviceForSuite(NO_BROWSER);

  const keep = async (id: number) => {
    await app.service.results.insert(resultOf(id));
    return keepCapture(app.service, id);
  };
  const remove = (id: number) => app.call(`/screenshot/${id}`, { method: 'DELETE' });

  it('removes the files and the record of this capture only', async () => {
    await keep(11);
    await keep(12);
    const response = await remove(11);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ success: true, data: { id: 11 } });
    for (const path of ['/screenshot/11', '/screenshot/11?view=html', '/screenshot/11?view=metadata', '/results/11']) {
      expect((await app.call(path)).status, path).toBe(404);
    }
    expect(await idsOf(await app.call('/screenshots'))).toEqual([12]);
    for (const path of ['/results', '/results/by-host?host=example', '/results/by-url?url=https://example.com/']) {
      expect(await idsOf(await app.call(path)), path).toEqual([12]);
    }
  });

  it('answers 404 the second time', async () => {
    await keep(21);
    expect((await remove(21)).status).toBe(200);
    const again = await remove(21);
    expect(again.status).toBe(404);
    expect(await again.json()).toMatchObject({ code: 'not_found' });
  });

  it('removes a failed capture, which has only a record, and files without a record', async () => {
    await app.service.results.insert(resultOf(31, { failed: true, artifacts: null }));
    await keepCapture(app.service, 32);
    for (const id of [31, 32]) expect((await remove(id)).status).toBe(200);
    for (const id of [31, 32]) expect((await remove(id)).status).toBe(404);
  });

  it('lets a client finish reading the image', async () => {
    const { result, html } = await keep(41);
    // More than a connection buffers.
    const image = Buffer.alloc(30_000_000, 'picture');
    await app.service.artifacts.remove([41]);
    await putCapture(app.service.artifacts, result, { image, html });
    const request = get(`${app.baseUrl}/screenshot/41`, { agent: false });
    const [response]: IncomingMessage[] = await once(request, 'response');
    expect((await remove(41)).status).toBe(200);
    expect((await app.call('/screenshot/41')).status).toBe(404);
    expect(response && (await buffer(response)).equals(image)).toBe(true);
  });

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
  it('shows retention in the stats when there is a limit, with the stored bytes', async () => {
    const app = await startService({ ...NO_BROWSER, retainDays: 1, retainBytes: 1e9 });
    await expect.poll(() => app.service.stats().store.bytes, { timeout: 20_000 }).toBe(0);
    await keepCapture(app.service, 1);
    const response = await app.call('/stats');
    expect(await response.json()).toMatchObject({
      data: { store: { bytes: expect.any(Number) }, retention: { screenshots: 0, records: 0, bytes_freed: 0 } },
    });
    expect(app.service.stats().store.bytes).toBe(await app.service.artifacts.measure());
    await app.stop();
  });
});
