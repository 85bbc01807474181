import { describe, expect, it } from 'vitest';
import type { CaptureOptions } from '../../src/capture/request.ts';
import { VERDICTS, type Verdict } from '../../src/capture/result/verdict.ts';
import { SAMPLE_PAGES } from '../fixtures/site.ts';
import { VERDICT_PAGES } from '../fixtures/verdicts/all.ts';
import { captureRequest } from '../support/capture-request.ts';
import { IN_FEW_PIXELS, ON_ONE_PAGE, siteAndActor } from '../support/site-and-actor.ts';

const ground = siteAndActor();

/** The pages are whole when they have loaded: the verdict is the same, for less CPU time. */
const AT_ONCE: CaptureOptions = { ...ON_ONE_PAGE, ...IN_FEW_PIXELS, waitUntil: 'load' };

async function verdictOn(path: string, options: CaptureOptions = {}): Promise<Verdict | null> {
  return (await ground.captureOf(captureRequest(ground.site.url(path), { ...IN_FEW_PIXELS, ...options }))).verdict;
}

const pathOf = (name: string) => `/verdict?${new URLSearchParams({ page: name })}`;

describe('the verdict on a captured page', () => {
  it.each(VERDICTS)('finds what pages after real products are: %s', async (wanted) => {
    const pages = VERDICT_PAGES[wanted];
    const found = await Promise.all(
      pages.map(async ({ name }) => `${name}: ${(await verdictOn(pathOf(name), AT_ONCE))?.name ?? 'none'}`),
    );
    expect(found).toEqual(pages.map(({ name }) => `${name}: ${wanted}`));
  });

  it.each(SAMPLE_PAGES)('calls a usual page content: %s', async (path) => {
    expect(await verdictOn(path)).toMatchObject({ name: 'content', reasons: [] });
  });

  it('gives its reasons, the strongest first, and no text of the page', async () => {
    expect(await verdictOn(pathOf('Cloudflare managed challenge'))).toEqual({
      name: 'bot_wall',
      confidence: expect.closeTo(0.99, 1),
      reasons: ['challenge_words', 'challenge_title', 'denied_words', 'challenge_script', 'status_and_signs'],
    });
  });

  it('is the same for a page that Playwright drives, and for a full page', async () => {
    const options: CaptureOptions = { waitForFunction: 'true', fullPage: true };
    expect(await verdictOn(pathOf('GitHub'), options)).toMatchObject({ name: 'login_wall' });
  });

  it('examines no image', async () => {
    expect(await verdictOn('/image.png')).toBeNull();
  });

  it('is not misled by a page whose elements hide the functions of the browser', async () => {
    expect(await verdictOn('/verdict/names')).toMatchObject({ name: 'content' });
  });
});

describe('retryOn', () => {
  it('captures a blank page once more, and the second capture counts', async () => {
    expect(await verdictOn('/verdict/late?key=once', { retryOn: ['blank'] })).toMatchObject({ name: 'content' });
    expect(ground.site.hits('/verdict/late')).toBe(2);
  });

  it('captures a page that stays blank twice and no more', async () => {
    const before = ground.site.hits('/verdict');
    expect(await verdictOn(pathOf('An empty body'), { retryOn: ['blank', 'unfinished'] })).toMatchObject({
      name: 'blank',
    });
    expect(ground.site.hits('/verdict') - before).toBe(2);
  });

  it('captures other pages once', async () => {
    expect(await verdictOn('/verdict/late?key=other', { retryOn: ['unfinished'] })).toMatchObject({ name: 'blank' });
    expect(ground.site.hits('/verdict/late')).toBe(3);
  });
});
