import { describe, expect, it } from 'vitest';
import type { Snapshot } from '../../src/capture/result/snapshot.ts';
import { htmlRequest } from '../support/capture-request.ts';
import { siteForSuite } from '../support/for-suite.ts';
import { type Colour, countOf, pngOf } from '../support/image.ts';
import { IN_FEW_PIXELS, ON_ONE_PAGE, siteAndActor } from '../support/site-and-actor.ts';

/* The banners are our own, written to match autoconsent's rules for HubSpot, Osano and cookie-alert. */

const MAGENTA: Colour = [255, 0, 255, 255];

describe.concurrent('a cookie banner', () => {
  const ground = siteAndActor(IN_FEW_PIXELS, 8);
  const elsewhere = siteForSuite();

  const capture = (path: string, answer?: 'accept' | 'reject', more = {}): Promise<Snapshot> =>
    ground.capture(path, {
      ...ON_ONE_PAGE,
      acceptCookieBanners: answer === 'accept',
      rejectCookieBanners: answer === 'reject',
      ...more,
    });
  const showsBanner = async (snapshot: Snapshot): Promise<boolean> => countOf(await pngOf(snapshot), MAGENTA) > 0;

  it('leaves the banner alone when no answer is requested', async () => {
    const snapshot = await capture('/banner');
    expect([snapshot.title, await showsBanner(snapshot)]).toEqual(['not asked', true]);
    expect(snapshot.timings).not.toHaveProperty('interact');
  });

  it.each([
    ['accept', '/banner', 'accepted'],
    ['reject', '/banner', 'declined'],
    ['accept', '/banner?ms=800', 'accepted'],
    ['accept', '/banner-of-scripts', 'accepted'],
    ['reject', '/banner-of-scripts', 'declined'],
  ] as const)('gives the answer %s to the banner on %s', async (answer, path, title) => {
    const snapshot = await capture(path, answer);
    expect([snapshot.title, await showsBanner(snapshot), snapshot.cutPhase]).toEqual([title, false, null]);
  });

  it('answers a banner in a cross-origin frame', async () => {
    const of = encodeURIComponent(elsewhere.url('/framed-banner'));
    const snapshot = await capture(`/banner-in-frame?of=${of}`, 'accept');
    expect([snapshot.title, await showsBanner(snapshot)]).toEqual(['accepted', false]);
  });

  const worded = (...buttons: readonly string[]) =>
    `/banner-of-words?${buttons.map((button) => `button=${encodeURIComponent(button)}`).join('&')}`;
  const REJECT = 'rejected:Reject all';

  // The words themselves: test/page-scripts/banner-words.test.ts.
  it.each(['Accept all cookies', 'Akzeptieren & Schließen', '同意する'])(
    'accepts a banner that no rule knows, by its button "%s"',
    async (words) => {
      const snapshot = await capture(worded('settings:Settings', REJECT, `accepted:${words}`), 'accept');
      expect([snapshot.title, await showsBanner(snapshot)]).toEqual(['accepted', false]);
      expect(snapshot.banner).toEqual({ found: true, rule: 'words', action: 'accepted' });
    },
  );

  it.each(['accept', 'reject'] as const)(
    'acknowledges a banner that only offers "OK", with the answer %s',
    async (answer) => {
      const snapshot = await capture(worded('acknowledged:OK'), answer);
      expect([snapshot.title, await showsBanner(snapshot)]).toEqual(['acknowledged', false]);
      expect(snapshot.banner).toEqual({ found: true, rule: 'words', action: 'acknowledged' });
    },
  );

  it.each([
    ['"OK" beside a refusal in unknown words', ['acknowledged:OK', 'rejected:Lieber ohne Kekse']],
    ['"Got it" beside settings', ['acknowledged:Got it', 'settings:Preferences']],
    ['"Akzeptieren & Schließen"', ['accepted:Akzeptieren & Schließen']],
    ['"Accepter & fermer"', ['accepted:Accepter & fermer']],
    ['"Accept"', ['accepted:Accept']],
  ])('does not click %s to reject', async (_, buttons) => {
    const { title, banner } = await capture(worded(...buttons), 'reject');
    expect([title, banner?.action]).toEqual(['not asked', 'none']);
  });

  const boxed = (content: string, of = '') =>
    `<title>not asked</title><div ${of} style="position:fixed;bottom:0;height:200px">We use cookies on this site. ${content}</div>`;
  const OK = '<button onclick="document.title = `acknowledged`">OK</button>';
  const answered = async (html: string, answer: 'accept' | 'reject') => {
    const { title, banner } = await ground.captureOf(
      htmlRequest(html, { ...IN_FEW_PIXELS, [`${answer}CookieBanners`]: true }),
    );
    return [title, banner?.action];
  };

  it.each([
    ['a link', '<a href="?cookies=no">Lieber ohne Kekse</a>'],
    ['a link without a target', '<a href="#">Lieber ohne Kekse</a>'],
    ['an element with a listener', '<span onclick="document.title = `rejected`">Lieber ohne Kekse</span>'],
    ['a check box', '<label><input type=checkbox checked> Werbung</label>'],
    ['a symbol', '<button aria-label="Lieber ohne Kekse">\u00d7</button>'],
    ['words under a pointer', '<span style="cursor:pointer">Lieber ohne Kekse</span>'],
    ['a label', '<label>Lieber ohne Kekse</label>'],
    ['an image under a pointer', '<img style="cursor:pointer" width=20 height=20>'],
    ['a custom element', '<cookie-refusal>Lieber ohne Kekse</cookie-refusal>'],
    ['a shadow tree', '<div><template shadowrootmode=open><button>Lieber ohne Kekse</button></template></div>'],
    ['a link to more options', '<a href="/cookie-options">More options</a>'],
    ['a link to settings', '<a href="/cookies">Mehr Einstellungen</a>'],
    ['a link to choices', '<a href="/privacy/choices">Your privacy choices</a>'],
  ])('does not click "OK" beside %s to reject', async (_, choice) => {
    expect(await answered(boxed(`${choice} <p id=cookie-ok>${OK}</p>`), 'reject')).toEqual(['not asked', 'none']);
  });

  it('does not click "OK" beside a button of the page that a shadow tree shows, to reject', async () => {
    const inside = `<div style="position:fixed;bottom:0;height:200px">We use cookies on this site. ${OK}<slot></slot></div>`;
    const html = `<title>not asked</title><x-consent><template shadowrootmode=open>${inside}</template><p><button>Lieber ohne Kekse</button></x-consent>`;
    expect(await answered(html, 'reject')).toEqual(['not asked', 'none']);
  });

  it('acknowledges a banner whose only button is beside links that explain it', async () => {
    const links = '<a href="/privacy">Privacy policy</a> <a href="/cookies">Learn more</a>';
    expect(await answered(boxed(links + OK), 'reject')).toEqual(['acknowledged', 'acknowledged']);
  });

  // autoconsent's rule for cookieinfo has one click for both answers.
  it('does not reject by a rule that clicks the same for both answers', async () => {
    const button = '<button class=cookieinfo-close onclick="document.title = `clicked`">Fine by me</button>';
    const html = boxed(button, 'class=cookieinfo');
    expect(await answered(html, 'reject')).toEqual(['not asked', 'none']);
    expect(await answered(html, 'accept')).toEqual(['clicked', 'accepted']);
  });

  it('rejects a banner that no rule knows, although it can also be accepted', async () => {
    const snapshot = await capture(worded('accepted:Accept all', REJECT), 'reject');
    expect([snapshot.title, snapshot.banner]).toEqual(['rejected', { found: true, rule: 'words', action: 'rejected' }]);
  });

  it.each(['Disagree and close', 'すべて拒否する'])('rejects a banner by its button "%s"', async (words) => {
    const { title, banner } = await capture(
      worded('settings:Settings', 'accepted:Accept', `rejected:${words}`),
      'reject',
    );
    expect([title, banner?.action]).toEqual(['rejected', 'rejected']);
  });

  it('rejects by a symbol whose label says so, and not by a button that is disabled', async () => {
    const button = (of: string) => `<button ${of} onclick="document.title = 'rejected'">`;
    const symbol = `${button('aria-label="Continue without accepting"')}\u00d7</button>`;
    expect(await answered(boxed(symbol), 'reject')).toEqual(['rejected', 'rejected']);
    const disabled = `${button('disabled')}Disagree and close</button>`;
    expect(await answered(boxed(disabled), 'reject')).toEqual(['not asked', 'none']);
  });

  it.each(['accept', 'reject'] as const)('answers a banner in an open shadow tree: %s', async (answer) => {
    const button = (words: string) => `<button onclick="document.title = '${words}'">${words} all</button>`;
    const inside = `<div style="position:fixed;bottom:0">We use cookies. ${button('Accept')} ${button('Reject')}</div>`;
    const html = `<title>not asked</title><x-consent><template shadowrootmode=open>${inside}</template></x-consent>`;
    const [title, action] = await answered(html, answer);
    expect([title, action]).toEqual(answer === 'accept' ? ['Accept', 'accepted'] : ['Reject', 'rejected']);
  });

  it('finds a banner in a page that was busy for longer than a banner may take to appear', async () => {
    const busy =
      "addEventListener('load', () => setTimeout(() => { for (const end = Date.now() + 2500; Date.now() < end;); }))";
    const { title, banner } = await capture(worded(REJECT), 'reject', { javascript: { before: busy } });
    expect([title, banner?.action]).toEqual(['rejected', 'rejected']);
  });

  it('leaves a box alone that is not about cookies', async () => {
    const { title, banner } = await capture(`${worded('accepted:Accept')}&text=Your+offer+for+the+ferry`, 'accept');
    expect([title, banner]).toEqual(['not asked', { found: false, rule: '', action: 'none' }]);
  });

  it('names the rule that knew the banner', async () => {
    expect((await capture('/banner', 'accept')).banner).toEqual({ found: true, rule: 'hubspot', action: 'accepted' });
    expect((await capture('/short', 'accept')).banner).toEqual({ found: false, rule: '', action: 'none' });
    expect((await capture('/short')).banner).toBeNull();
  });

  it.each(['/short', '/blank', '/image.png'])('captures %s, which has no banner', async (path) => {
    const { cutPhase, responseCode } = await capture(path, 'reject');
    expect([cutPhase, responseCode]).toEqual([null, 200]);
  });

  it('gives up a banner whose button takes longer than a banner may, and captures the page after that', async () => {
    const blocking = 'for (const end = Date.now() + 9500; Date.now() < end;);';
    const javascript = { before: `addEventListener('click', () => { ${blocking} }, true)` };
    const { banner, cutPhase } = await capture('/banner', 'reject', { timeoutMs: 60_000, javascript });
    expect([banner?.action, cutPhase]).toEqual(['none', null]);
  });

  it('stops looking for a banner in a page that clears all timeouts', { concurrent: false }, async () => {
    const clearing = 'for (let id = 1; id < 10_000; id += 1) if (id !== own) clearTimeout(id);';
    const javascript = { before: `const own = setInterval(() => { ${clearing} }, 20)` };
    // Waiting ends before the time limit for a banner does.
    expect((await capture('/short', 'reject', { timeoutMs: 9_000, javascript })).cutPhase).not.toBe('interact');
  });

  it('leaves no trace of the search in the HTML', async () => {
    const { html } = await capture('/banner', 'reject');
    expect(html).not.toMatch(/autoconsent/i);
  });
});
