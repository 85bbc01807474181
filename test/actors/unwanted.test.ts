import { describe, expect, it } from 'vitest';
import { failureOf } from '../support/actor.ts';
import { captureRequest } from '../support/capture-request.ts';
import { IN_FEW_PIXELS, siteAndActor } from '../support/site-and-actor.ts';

describe('a page that is not wanted', () => {
  const { capture } = siteAndActor(IN_FEW_PIXELS);

  it.each([[[404]], [['500', '4XX']]])('fails the capture by its status, with %j', async (failOnStatus) => {
    const { code, message } = await failureOf(capture('/404', { failOnStatus }));
    expect([code, message]).toEqual(['unwanted_status', 'the target answered with 404, which failOnStatus names']);
  });

  it.each([[[500]], [['5xx', 403]]])('is captured when its status is another, with %j', async (failOnStatus) => {
    expect((await capture('/404', { failOnStatus })).responseCode).toBe(404);
  });

  it('fails the capture by a text that it shows', async () => {
    const { code, message } = await failureOf(capture('/slow?ms=0', { failOnText: ['robot', 'worth THE  wait'] }));
    expect([code, message]).toEqual(['unwanted_text', 'the page shows "worth THE  wait", which failOnText names']);
  });

  it('fails the capture by a text that is shown after its load', async () => {
    expect((await failureOf(capture('/late/application', { failOnText: ['content'] }))).code).toBe('unwanted_text');
  });

  it.each(['/late/element?ms=60000', '/image.png'])(
    'is captured when the text is hidden or absent: %s',
    async (path) => {
      expect((await capture(path, { failOnText: ['Here I am'] })).cutPhase).toBeNull();
    },
  );

  it.each([[600], ['6xx'], ['404 '], ['x']])('refuses %j as a status', (status) => {
    expect(() => captureRequest('https://example.com', { failOnStatus: [status] })).toThrow(/such as 404/);
  });
});
