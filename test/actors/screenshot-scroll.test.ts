import { describe, expect, it } from 'vitest';
import { differenceOf, pathOf } from '../fixtures/kinds/kind.ts';
import { SCROLLED_KINDS } from '../fixtures/kinds/scrolled.ts';
import { patience } from '../support/actor.ts';
import { captureRequest } from '../support/capture-request.ts';
import { pngOf } from '../support/image.ts';
import { siteAndActor } from '../support/site-and-actor.ts';

describe('a page that changes when it is scrolled', () => {
  const ground = siteAndActor();

  it.each(SCROLLED_KINDS)('is captured as a visitor sees it: $name', async (kind) => {
    const url = ground.site.url(pathOf(kind));
    const whole = await ground.running.actor.capture(captureRequest(url, { fullPage: true }), patience);
    expect(whole.cutPhase).toBeNull();
    expect(differenceOf(pngOf(whole), kind.fullPage)).toBeNull();
    const window = await ground.running.actor.capture(captureRequest(url), patience);
    expect(differenceOf(pngOf(window), kind.window)).toBeNull();
  });
});
