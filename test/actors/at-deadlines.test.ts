import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { failureOf } from '../support/actor.ts';
import { LATE, shortlyBeforeLate } from '../support/capture-request.ts';
import { pixelsOf } from '../support/image.ts';
import { siteAndActor, WAITING_SLOTS } from '../support/site-and-actor.ts';
import { coloursOf } from './driver-suite.ts';

/** A deadline after that of the other captures, so that not all of them take their screenshots at once. */
const LATER = { timeoutMs: 32_000 };

/*
 * Captures that mostly wait for their deadlines. They wait side by side, and apart from captures that keep the
 * processor busy, which would leave them no time for the screenshot.
 */
describe.concurrent('a capture of a page that is not ready at the deadline', () => {
  const { capture, site } = siteAndActor(undefined, WAITING_SLOTS);

  it.each([
    ['our driver', {}],
    ['Playwright', { waitForFunction: 'true' }],
  ])('ends the scripts of a page that blocks it after the load, and captures what is there, by %s', async (_, asks) => {
    const { cutPhase, title, html } = await capture(`/loop?at=${shortlyBeforeLate()}`, { ...LATE, ...asks });
    expect(cutPhase).toMatch(/^(?:wait|settle)$/);
    expect(title).toBe('A page that spins');
    expect(html).toContain('<h1>Round and round</h1>');
  });

  it('ends the scripts of a page that blocks it before the load, and captures what is there', async () => {
    const { cutPhase, title } = await capture(`/loop?when=parse&at=${shortlyBeforeLate()}`, LATE);
    expect([cutPhase, title]).toEqual(['load', 'A page that spins']);
  });

  it('waits for a late image', async () => {
    const [late, blank] = await Promise.all([capture('/slow-image?ms=600'), capture('/slow-image?ms=60000', LATE)]);
    expect(late.cutPhase).toBeNull();
    expect(blank.cutPhase).toBe('load');
    expect(coloursOf(await pixelsOf(late.image)).size).toBeGreaterThan(coloursOf(await pixelsOf(blank.image)).size);
  });

  it('captures what is there of a page that never finishes loading', async () => {
    const snapshot = await capture('/never', LATE);
    expect(snapshot).toMatchObject({ cutPhase: 'load', title: 'A page that never ends', responseCode: 200 });
    expect(snapshot.html).toContain('There is more to come');
  });

  it('stops a page that reloads itself at each load event, and captures what is there', async () => {
    expect((await capture('/reload-loop?ms=0', LATE)).html).toContain('<h1>Again</h1>');
  });

  it('times out for a target that never answers, names the phase, and has the evidence so far', async () => {
    const error = await failureOf(capture('/hang', { ...LATE, evidence: ['network'] }));
    expect(error).toMatchObject({
      code: 'capture_timeout',
      message: 'nothing could be captured within 25000 ms (open the URL)',
      evidence: { network: { items: [{ url: site.url('/hang'), status: 0, time_ms: null, failure: '' }] } },
    });
  });

  it('contains no icon when the icon does not arrive', async () => {
    const { evidence } = await capture('/evidence/icon/late', { evidence: ['favicon'], timeoutMs: 15_000 });
    expect(evidence.favicon).toBeNull();
  });

  it('finds an element in what is there of a page that never finishes loading', async () => {
    const snapshot = await capture('/never', { selector: 'h1', ...LATER });
    expect(snapshot).toMatchObject({ cutPhase: 'load' });
    expect(snapshot.height).toBeLessThan(200);
  });

  it('prints what is there of a page that never finishes loading', async () => {
    const { cutPhase, image } = await capture('/never', { format: 'pdf', ...LATER });
    expect(cutPhase).toBe('load');
    const text = Buffer.from(image).toString('latin1');
    expect([text.slice(0, 5), text.match(/\/MediaBox/g)?.length]).toEqual(['%PDF-', 1]);
  });

  it.each(['/never', '/late/blocked'])('resizes the window of a page that is cut at its deadline: %s', async (path) => {
    const snapshot = await capture(path, { resize: { width: 320 }, format: 'jpeg', ...LATER });
    expect(snapshot).toMatchObject({ width: 320, height: 180, cutPhase: expect.any(String) });
    expect(await sharp(snapshot.image).metadata()).toMatchObject({ format: 'jpeg', width: 320, height: 180 });
  });
});
