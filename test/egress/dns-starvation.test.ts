import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAX_LOOKUPS_AT_ONCE } from '../../src/egress/traffic.ts';
import { type RunningService, startService } from '../support/service.ts';
import { type SilentImages, startSilentImages } from './silent-images.ts';

describe('a page with 400 images on host names that no name server answers for', () => {
  let hostile: SilentImages;
  let service: RunningService;

  beforeAll(async () => {
    hostile = await startSilentImages();
    service = await startService({ nameServers: [hostile.nameServer.address] });
  });
  afterAll(async () => {
    await service?.stop();
    await hostile?.[Symbol.asyncDispose]();
  });

  it('does not delay other captures, and causes no lookups after its own capture has ended', async () => {
    const leave = new AbortController();
    const body = { url: hostile.hostileUrl, timeoutMs: 30_000 };
    const hostileEnded = service.post('/screenshot', body, { signal: leave.signal }).then(
      () => 'answered',
      () => 'gone',
    );
    await expect.poll(() => hostile.silentNames().size).toBe(MAX_LOOKUPS_AT_ONCE);

    const urls = Array.from({ length: 6 }, (_, at) => hostile.goodUrl(`site-${at}`));
    const answers = await Promise.all(urls.map((url) => service.post('/screenshot', { url })));
    expect(answers.map(({ status }) => status)).toEqual(urls.map(() => 200));
    expect(await Promise.all(answers.map((answer) => answer.json()))).toEqual(
      urls.map(() => expect.objectContaining({ data: expect.objectContaining({ title: 'page', partial: false }) })),
    );

    leave.abort();
    expect(await hostileEnded).toBe('gone');
    await expect.poll(() => service.service.stats().pool.busy).toBe(0);
    const asked = hostile.nameServer.asked.length;
    const after = await service.post('/screenshot', { url: hostile.goodUrl('after') });
    expect(after.status).toBe(200);
    expect(hostile.nameServer.asked.slice(asked).filter((name) => !name.endsWith('.good.test'))).toEqual([]);
  });

  it('captures a page after 30 clients disconnected while their names were looked up', async () => {
    const leave = new AbortController();
    const names = Array.from({ length: 30 }, (_, at) => `left-${at}.silent.test`);
    const left = names.map((name) =>
      service.post('/screenshot', { url: `http://${name}/` }, { signal: leave.signal }).then(
        () => 'answered',
        () => 'gone',
      ),
    );
    const { asked } = hostile.nameServer;
    await expect.poll(() => names.filter((name) => asked.includes(name)).length).toBe(names.length);
    leave.abort();
    expect(await Promise.all(left)).toEqual(names.map(() => 'gone'));
    const after = await service.post('/screenshot', { url: hostile.goodUrl('after-30') });
    expect(after.status).toBe(200);
  });
});
