import { describe, expect, it } from 'vitest';
import { failureOf } from '../support/actor.ts';
import { pixelsOf } from '../support/image.ts';
import { startService } from '../support/service.ts';
import { siteAndActor } from '../support/site-and-actor.ts';

describe('a target that is not HTML', () => {
  const { capture, site } = siteAndActor();

  it.each([
    ['/image.png', 'image/png', '<img'],
    ['/assets/scene-1.jpg', 'image/jpeg', '<img'],
    ['/assets/anchor.svg', 'image/svg+xml', '<svg'],
    ['/data.json', 'application/json', '<pre'],
    ['/text.txt', 'text/plain', '<pre'],
  ])('captures the page that Chromium shows for %s', async (path, contentType, shownIn) => {
    const snapshot = await capture(path);
    expect(snapshot).toMatchObject({ contentType, responseCode: 200, cutPhase: null });
    expect(snapshot.html).toContain(shownIn);
    const colours = new Set((await pixelsOf(snapshot.image)).data);
    expect(colours.size).toBeGreaterThan(3);
  });

  describe('when it is a download', () => {
    it.each([
      ['/files/cargo.zip', { name: 'cargo.zip', type: 'application/zip', bytes: 5000 }],
      ['/files/endless.zip', { name: 'endless.zip', type: 'application/zip', bytes: 1e12 }],
      ['/download', { name: 'cargo.bin', type: 'application/octet-stream', bytes: null }],
      ['/redirect?to=/files/cargo.zip', { name: 'cargo.zip', type: 'application/zip', bytes: 5000 }],
      ['/files/page-to-keep', { name: 'Bücher.html', type: 'text/html', bytes: null }],
      ['/files/pdf-to-keep', { name: 'report.pdf', type: 'application/pdf', bytes: null }],
    ])('fails with not_a_page and the name, type and size of the download: %s', async (path, download) => {
      const error = await failureOf(capture(path));
      expect(error).toMatchObject({ code: 'not_a_page', download });
      expect(error.message).toBe(`the target is a download (${download.name}), not a page`);
    });

    it('reports a download in the record and in the answer', async () => {
      const service = await startService();
      const response = await service.post('/screenshot', { url: site.url('/files/cargo.zip') });
      expect(response.status).toBe(422);
      expect(await response.json()).toMatchObject({
        code: 'not_a_page',
        data: {
          failed_code: 'not_a_page',
          content_type: 'application/zip',
          content_length: 5000,
          download: { name: 'cargo.zip', type: 'application/zip', bytes: 5000 },
        },
      });
      await service.stop();
    });

    it('fails with not_a_page also when requests are paused for another option', async () => {
      const error = await failureOf(
        capture('/files/cargo.zip', { headers: { 'x-visit': '1' }, block: { types: ['image'] } }),
      );
      expect(error).toMatchObject({ code: 'not_a_page', download: { bytes: 5000 } });
      expect(site.requests.findLast(({ url }) => url === '/files/cargo.zip')?.headers['x-visit']).toBe('1');
    });
  });

  it('ignores a download that a page starts by itself', async () => {
    const snapshot = await capture('/files/starts-download');
    expect(snapshot).toMatchObject({ title: 'Thank you', cutPhase: null, responseCode: 200 });
  });

  it('fails with not_a_page when the target has no content', async () => {
    const error = await failureOf(capture('/files/nothing'));
    expect(error).toMatchObject({ code: 'not_a_page', download: undefined });
    expect(error.message).toBe('the target answered without any content');
  });
});
