import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAX_LOOKUPS_AT_ONCE } from '../../src/egress/lookup-queue.ts';
import { type NameServer, startNameServer } from '../support/name-server.ts';
import { type RunningService, startService } from '../support/service.ts';
import { type Listening, listening } from './listening.ts';

const IMAGES = 400;
const SILENT = /^image-\d+\.silent\.test$/;

/** The name server answers for `*.good.test` and never for `*.silent.test`. */
describe('lookups of a page with 400 images on names that no name server answers for', () => {
  let nameServer: NameServer;
  let site: Listening;
  let service: RunningService;

  beforeAll(async () => {
    nameServer = await startNameServer((name) => (name.endsWith('.good.test') ? ['127.0.0.1'] : 'silence'));
    site = await listening(
      createServer((request, response) => {
        const images = Array.from({ length: IMAGES }, (_, at) => `<img src="http://image-${at}.silent.test/a.png">`);
        response.setHeader('Content-Type', 'text/html');
        response.end(`<!doctype html><title>page</title>${request.url === '/hostile' ? images.join('') : 'good'}`);
      }),
    );
    service = await startService({ nameServers: [nameServer.address] });
  });
  afterAll(async () => {
    await service?.stop();
    await site?.[Symbol.asyncDispose]();
    await nameServer?.[Symbol.asyncDispose]();
  });

  const silentNames = () => new Set(nameServer.asked.filter((name) => SILENT.test(name)));

  it('do not delay other captures, and end with the capture of the page', async () => {
    const hostile = new AbortController();
    const hostileEnded = service
      .post('/screenshot', { url: `http://page.good.test:${site.port}/hostile` }, { signal: hostile.signal })
      .then(
        () => 'answered',
        () => 'gone',
      );
    await expect.poll(() => silentNames().size).toBe(MAX_LOOKUPS_AT_ONCE);

    const urls = Array.from({ length: 6 }, (_, at) => `http://site-${at}.good.test:${site.port}/`);
    const answers = await Promise.all(urls.map((url) => service.post('/screenshot', { url })));
    expect(answers.map(({ status }) => status)).toEqual(urls.map(() => 200));
    expect(await Promise.all(answers.map((answer) => answer.json()))).toEqual(
      urls.map(() => expect.objectContaining({ data: expect.objectContaining({ title: 'page', partial: false }) })),
    );
    // The page still waits for its first names.
    expect(silentNames().size).toBe(MAX_LOOKUPS_AT_ONCE);

    hostile.abort();
    expect(await hostileEnded).toBe('gone');
    await expect.poll(() => service.service.stats().pool.busy).toBe(0);
    const asked = nameServer.asked.length;
    const after = await service.post('/screenshot', { url: `http://after.good.test:${site.port}/` });
    expect(after.status).toBe(200);
    expect(nameServer.asked.slice(asked).filter((name) => SILENT.test(name))).toEqual([]);
  });
});
