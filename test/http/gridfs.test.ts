import { Binary, MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { describeWithRelayedMongo } from '../support/describe-with-mongo.ts';
import { siteForSuite } from '../support/for-suite.ts';
import { NO_BROWSER, type RunningService, startService } from '../support/service.ts';
import { describeRemoval } from './removed-captures.ts';
import { describeStoredImages } from './stored-images.ts';

const Captured = z.object({ data: z.object({ id: z.int() }) });

describeWithRelayedMongo('captures in GridFS over HTTP', (server) => {
  const gridfs = (name: string) => ({ dbPath: null, mongoUrl: `${server.url}${name}`, artifacts: 'gridfs' }) as const;

  describeStoredImages((name) => ({ ...NO_BROWSER, ...gridfs(name) }));
  describeRemoval(() => ({ ...NO_BROWSER, ...gridfs('removal') }));

  describe('with two services on one database', () => {
    const site = siteForSuite();
    let first: RunningService;
    let second: RunningService;
    let inFiles: RunningService;

    beforeAll(async () => {
      first = await startService(gridfs('shared'));
      second = await startService({ ...NO_BROWSER, ...gridfs('shared') });
      inFiles = await startService({ ...NO_BROWSER, ...gridfs('shared'), artifacts: 'files' });
    });

    afterAll(async () => {
      for (const service of [first, second, inFiles]) await service?.stop();
    });

    async function capture(accept = 'application/json'): Promise<Response> {
      return first.post('/screenshot', { url: site.url('/short') }, { headers: { Accept: accept } });
    }

    it('serves files that the other service stored, whole and in ranges', async () => {
      const { id } = Captured.parse(await (await capture()).json()).data;
      const image = await first.call(`/screenshot/${id}`);
      const bytes = Buffer.from(await image.arrayBuffer());
      expect(bytes.subarray(1, 4).toString()).toBe('PNG');
      for (const service of [second, inFiles]) {
        const other = await service.call(`/screenshot/${id}`);
        expect(other.headers.get('ETag')).toBe(image.headers.get('ETag'));
        expect(Buffer.from(await other.arrayBuffer())).toEqual(bytes);
        const part = await service.call(`/screenshot/${id}`, { headers: { Range: 'bytes=1-3' } });
        expect([part.status, await part.text()]).toEqual([206, 'PNG']);
        const html = await service.call(`/screenshot/${id}?view=html`);
        expect(await html.text()).toContain('<html');
        expect(await (await service.call(`/screenshot/${id}?view=metadata`)).json()).toMatchObject({ data: { id } });
      }
      expect((await inFiles.call(`/screenshot/${id}`, { method: 'DELETE' })).status).toBe(421);
      expect((await second.call(`/screenshot/${id}`, { method: 'DELETE' })).status).toBe(200);
      expect((await first.call(`/screenshot/${id}`)).status).toBe(404);
    });

    it('reuses a capture of the other service', async () => {
      const wanted = { url: site.url('/short?reused'), cacheMaxAgeMs: 3_600_000 };
      const { id } = Captured.parse(await (await first.post('/screenshot', wanted)).json()).data;
      const again = await second.post('/screenshot', wanted, { headers: { Accept: 'image/png' } });
      expect([again.status, again.headers.get('X-Capture-Id')]).toEqual([200, String(id)]);
      expect(again.headers.get('X-Capture-Cached')).toBe('true');
    });

    it('answers 500 artifact_damaged for a file whose chunks are gone, and captures the page again', async () => {
      const wanted = { url: site.url('/short?damaged'), cacheMaxAgeMs: 3_600_000 };
      const { id } = Captured.parse(await (await first.post('/screenshot', wanted)).json()).data;
      const client = await new MongoClient(`${server.url}shared`).connect();
      const database = client.db();
      const image = await database.collection('artifacts.files').findOne({ filename: { $regex: `/0*${id}/.*image` } });
      const gone = { files_id: image?._id };
      expect((await database.collection('artifacts.chunks').deleteMany(gone)).deletedCount).toBeGreaterThan(0);
      await client.close();
      for (const service of [first, second, inFiles]) {
        for (const view of ['', '?width=100']) {
          const answer = await service.call(`/screenshot/${id}${view}`);
          expect([answer.status, await answer.json()]).toEqual([
            500,
            expect.objectContaining({ code: 'artifact_damaged' }),
          ]);
        }
      }
      const again = Captured.parse(await (await first.post('/screenshot', wanted)).json()).data;
      expect(again.id).not.toBe(id);
      expect((await second.call(`/screenshot/${again.id}`)).status).toBe(200);
    });

    it('answers 500 artifact_damaged for a file whose chunk is shorter than it was', async () => {
      const { id } = Captured.parse(await (await capture()).json()).data;
      const client = await new MongoClient(`${server.url}shared`).connect();
      const database = client.db();
      const image = await database.collection('artifacts.files').findOne({ filename: { $regex: `/0*${id}/.*image` } });
      const cut = { $set: { data: new Binary(Buffer.from('short')) } };
      const { modifiedCount } = await database.collection('artifacts.chunks').updateMany({ files_id: image?._id }, cut);
      await client.close();
      expect(modifiedCount).toBe(1);
      for (const view of ['', '?width=90']) {
        const answer = await second.call(`/screenshot/${id}${view}`);
        expect([answer.status, await answer.json()]).toEqual([
          500,
          expect.objectContaining({ code: 'artifact_damaged' }),
        ]);
      }
    });

    it('captures while MongoDB is away, and answers 503 with Retry-After for undelivered images', async () => {
      const before = Captured.parse(await (await capture()).json()).data.id;
      await server.stop();
      const { id } = Captured.parse(await (await capture()).json()).data;
      const asImage = await capture('image/png');
      expect([asImage.status, asImage.headers.get('Content-Type')]).toEqual([200, 'image/png']);
      const refusals = [
        [first, id, 'artifact_pending'],
        [first, before, 'database_unavailable'],
        [second, id, 'database_unavailable'],
      ] as const;
      for (const [service, wanted, code] of refusals) {
        for (const view of ['', '?view=html', '?view=metadata']) {
          const refused = await service.call(`/screenshot/${wanted}${view}`);
          expect(refused.status).toBe(503);
          expect(refused.headers.get('Retry-After')).toMatch(/^\d+$/);
          expect(await refused.json()).toMatchObject({ code });
        }
      }
      expect((await first.call('/screenshots')).status).toBe(503);
      expect((await first.call('/readyz')).status).toBe(200);
      await server.start();
      await expect.poll(() => first.service.stats().store).toMatchObject({ outbox: 0, state: 'up' });
      for (const wanted of [before, id, Number(asImage.headers.get('X-Capture-Id'))]) {
        for (const service of [first, second]) {
          await expect.poll(async () => (await service.call(`/screenshot/${wanted}`)).status).toBe(200);
        }
      }
    });
  });
});
