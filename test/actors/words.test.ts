import { describe, expect, it } from 'vitest';
import type { CaptureOptions } from '../../src/capture/request.ts';
import { failureOf } from '../support/actor.ts';
import { htmlRequest } from '../support/capture-request.ts';
import { IN_FEW_PIXELS, siteAndActor } from '../support/site-and-actor.ts';

/*
 * Words of pages with soft hyphens, no-break spaces, zero-width characters, decomposed letters and marks of direction.
 */

describe.concurrent('words with characters that nobody sees', () => {
  const { captureOf, capture, captureHtml } = siteAndActor(IN_FEW_PIXELS);

  const htmlOf = (body: string) => `<!doctype html><html lang=de><meta charset=utf-8>${body}`;
  const captured = (body: string, options: CaptureOptions = {}) => captureHtml(htmlOf(body), options);

  it.each([
    ['soft hyphens', 'Zugriff ver&shy;weigert'],
    ['a no-break space', 'Zugriff&nbsp;verweigert'],
    ['a zero-width space', 'Zugriff ver&#8203;weigert'],
    ['marks of direction', '&lrm;Zugriff&rlm; verweigert'],
    ['an element that allows a break', 'Zugriff ver<wbr>weigert'],
  ])('are found by failOnText: %s', async (_, written) => {
    const { code, message } = await failureOf(
      captured(`<h1>${written}</h1>`, { failOnText: ['Nichts', 'zugriff verweigert'] }),
    );
    expect(code).toBe('unwanted_text');
    expect(message).toContain('"zugriff verweigert"');
  });

  it.each([
    ['Café geschlossen', 'Cafe\u0301 geschlossen'],
    ['Cafe\u0301 geschlossen', 'Café geschlossen'],
    ['STRASSE gesperrt', 'Straße gesperrt'],
    ["don't have access", 'You don’t have access'],
  ])('fail the capture for %j in %j', async (wanted, written) => {
    const { code } = await failureOf(captured(`<p>${written}</p>`, { failOnText: [wanted] }));
    expect(code).toBe('unwanted_text');
  });

  it('are clicked by their text, and not where no space and no break divides them', async () => {
    const written = {
      'Alle akzeptieren': 'Alle ak&shy;zep&shy;tieren',
      '10 € zahlen': '10&nbsp;€ zahlen',
      'Zur Kasse': '&lrm;Zur&#8203; Kasse',
      Café: 'Cafe\u0301',
      'Große Karte': 'Grosse Karte',
      'Alle ablehnen': '<span>Alle<br>ablehnen</span>',
      'Log in': 'Log in',
    };
    const button = ([text, content]: readonly [string, string]) =>
      `<button onclick="document.title += '${text};'">${content}</button>`;
    const html = `<title>Clicked:</title>${button(['wrong', 'Login'])}${Object.entries(written).map(button).join('')}`;
    const texts = Object.keys(written);
    const { title, cutPhase } = await captureOf(
      htmlRequest(htmlOf(html), { ...IN_FEW_PIXELS, actions: texts.map((text) => ({ type: 'click', text })) }),
    );
    expect([title, cutPhase]).toEqual([`Clicked:${texts.join(';')};`, null]);
  });

  const banner = (...buttons: readonly string[]) =>
    `/banner-of-words?${buttons.map((button) => `button=${encodeURIComponent(button)}`).join('&')}`;

  it.each(['Alle ak\u00adzep\u00adtieren', 'Alle\u00a0Cookies akzep\u200btieren', 'Hyva\u0308ksy kaikki'])(
    'are accepted on the button %j of a cookie banner',
    async (written) => {
      const path = banner('settings:Settings', 'rejected:Reject all', `accepted:${written}`);
      expect((await capture(path, { acceptCookieBanners: true })).title).toBe('accepted');
    },
  );

  it.each(['Alle ab\u00adlehnen', 'Reject\u00a0all', 'Re\u200bject all'])(
    'are refused on the button %j of a cookie banner',
    async (written) => {
      const path = banner('accepted:Accept all', `rejected:${written}`);
      expect((await capture(path, { rejectCookieBanners: true })).title).toBe('rejected');
    },
  );

  it('are signs of a verdict', async () => {
    const { verdict } = await captured(`<title>Just a&nbsp;mo&shy;ment...</title><h1>Checking your brow&shy;ser</h1>
      <p>Veri&shy;fy you are&nbsp;human by com&shy;pleting the action below.</p>`);
    expect(verdict).toMatchObject({ name: 'bot_wall', reasons: ['challenge_words', 'challenge_title'] });
  });

  it('are in the outputs as they are drawn, without soft hyphens', async () => {
    const { outputs } = await captured(
      `<h1>Donau&shy;dampf&shy;schiff</h1><p>Fahrt um 12&nbsp;€, <a href="https://example.com/">Fahr&shy;plan</a></p>`,
      {
        outputs: ['text', 'markdown', 'links'],
        extract: { heading: { selector: 'h1' } },
        markdown: { scope: 'page' },
      },
    );
    const contents = [outputs.text, outputs.markdown, outputs.links, outputs.extract].map((each) =>
      String(each?.content),
    );
    expect(contents).toEqual([
      'Donaudampfschiff\n\nFahrt um 12\u00a0€, Fahrplan\n',
      expect.stringMatching(/^# Donaudampfschiff\n\nFahrt um 12.€, \[Fahrplan\]/),
      expect.stringContaining('"Fahrplan"'),
      expect.stringContaining('"Donaudampfschiff"'),
    ]);
    expect(contents.join()).not.toContain('\u00ad');
  });
});
