import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import type { ServiceConfig } from '../../src/config/slices.ts';
import { putCapture } from '../storage/put-capture.ts';
import { serviceForSuite } from '../support/for-suite.ts';
import { idsOf } from './answers.ts';
import { keepCapture, resultOf } from './stored-capture.ts';

/** Requirements of the removal of captures over HTTP, wherever they are stored. */
export function describeRemoval(config: () => Partial<ServiceConfig>): void {
  describe('DELETE /screenshot/:id', () => {
    const app = serviceForSuite(config);

    const keep = async (id: number) => {
      const kept = await keepCapture(app.service, id);
      await app.service.results.insert(kept.result);
      return kept;
    };
    const remove = (id: number) => app.call(`/screenshot/${id}`, { method: 'DELETE' });

    it('removes the files and the record of this capture only', async () => {
      await keep(11);
      await keep(12);
      const response = await remove(11);
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject({ success: true, data: { id: 11 } });
      for (const path of [
        '/screenshot/11',
        '/screenshot/11?view=html',
        '/screenshot/11?view=metadata',
        '/results/11',
      ]) {
        expect((await app.call(path)).status, path).toBe(404);
      }
      expect(await idsOf(await app.call('/screenshots'))).toEqual([12]);
      for (const path of ['/results', '/results/by-host?host=example', '/results/by-url?url=https://example.com/']) {
        expect(await idsOf(await app.call(path)), path).toEqual([12]);
      }
    });

    it('answers 404 when a capture is deleted a second time', async () => {
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

    it('lets a client finish reading an image that is removed meanwhile', async () => {
      const { result, html } = await keep(41);
      // Larger than the buffers of a connection.
      const image = Buffer.alloc(30_000_000, 'picture');
      await app.service.artifacts.remove([41]);
      await putCapture(app.service.artifacts, result, { image, html });
      const request = get(`${app.baseUrl}/screenshot/41`, { agent: false });
      const [response]: IncomingMessage[] = await once(request, 'response');
      expect((await remove(41)).status).toBe(200);
      expect((await app.call('/screenshot/41')).status).toBe(404);
      expect(response && (await buffer(response)).equals(image)).toBe(true);
    });
  });
}
