import { describe, expect, it } from 'vitest';
import type { Snapshot } from '../../src/capture/result/snapshot.ts';
import { failureOf } from '../support/actor.ts';
import { LATE, shortlyBeforeLate } from '../support/capture-request.ts';
import { pixelsOf } from '../support/image.ts';
import { IN_FEW_PIXELS, siteAndActor, WAITING_SLOTS } from '../support/site-and-actor.ts';

describe('changes that a request makes to the page', () => {
  const { capture, site } = siteAndActor(IN_FEW_PIXELS, WAITING_SLOTS);

  describe('javascript.before', () => {
    it("runs the script before the page's own scripts, also in the next document", async () => {
      const before = 'Storage.prototype; const real = Number; Number = (value) => real(value) + 41;';
      expect((await capture('/storage', { javascript: { before } })).title).toBe('visits: 42');
      const { title } = await capture('/js-redirect', {
        javascript: { before: "addEventListener('load', () => { document.title = 'seen'; });" },
      });
      expect(title).toBe('seen');
    });

    it('runs the script in a page that forbids scripts', async () => {
      const before = "addEventListener('DOMContentLoaded', () => { document.title = 'seen'; });";
      expect((await capture('/strict-policy', { javascript: { before } })).title).toBe('seen');
    });

    it('reports a syntax error as script_failed, with the reason', async () => {
      const failed = await failureOf(capture('/short', { javascript: { before: 'let sail = ;' } }));
      expect([failed.code, failed.message]).toEqual([
        'script_failed',
        "javascript.before: SyntaxError: Unexpected token ';'",
      ]);
    });

    it('captures the page when the script throws', async () => {
      expect((await capture('/short', { javascript: { before: "throw new Error('overboard')" } })).title).toContain(
        'A small port',
      );
    });
  });

  describe.concurrent('javascript.after', () => {
    it('runs the script in the loaded page with access to its variables, and awaits its promise', async () => {
      const after = `new Promise((done) => setTimeout(() => { document.title += ' ' + tide; done(); }, 50))`;
      const { title, cutPhase } = await capture('/title?t=late', {
        javascript: { before: "var tide = 'high';", after },
      });
      expect([title, cutPhase]).toEqual(['late high', null]);
    });

    it("runs the script where the page's policy forbids scripts", async () => {
      expect((await capture('/strict-policy', { javascript: { after: "document.title = 'changed'" } })).title).toBe(
        'changed',
      );
    });

    it('lets the script assign strings where the page requires trusted types', async () => {
      const after = "document.body.innerHTML = '<b>new</b>'; document.title = document.querySelector('b').textContent";
      expect((await capture('/trusted-types', { javascript: { after } })).title).toBe('new');
    });

    it('runs the script in the next document, too, when it navigates', async () => {
      const after = "location.pathname === '/medium' ? void (document.title = 'arrived') : location.assign('/medium')";
      const { title, finalUrl } = await capture('/short', { javascript: { after } });
      expect([title, finalUrl]).toEqual(['arrived', site.url('/medium')]);
    });

    it.each([
      ["throw new RangeError('too deep')", 'javascript.after: RangeError: too deep'],
      ["Promise.reject(new Error('adrift'))", 'javascript.after: Error: adrift'],
      ["throw 'a plain word'", 'javascript.after: Uncaught a plain word'],
      ['let sail = ;', "javascript.after: SyntaxError: Unexpected token ';'"],
    ])('reports a script that fails (%s) as script_failed, with the reason', async (after, reason) => {
      const failed = await failureOf(capture('/short', { javascript: { after } }));
      expect([failed.code, failed.message]).toEqual(['script_failed', reason]);
    });

    it('shortens long error messages', async () => {
      const failed = await failureOf(capture('/short', { javascript: { after: "throw new Error('x'.repeat(1e6))" } }));
      expect(failed.message.length).toBeLessThan(600);
    });

    it.each(['for (;;);', 'new Promise(() => {})'])(
      'ends a script that never ends (%s), and captures the page',
      async (after) => {
        const { title, cutPhase, timings } = await capture(`/slow?at=${shortlyBeforeLate()}`, {
          javascript: { after },
          ...LATE,
        });
        expect([title, cutPhase]).toEqual(['A slow page', 'interact']);
        expect(timings.interact).toBeGreaterThan(500);
      },
    );
  });

  describe.concurrent('css', () => {
    const css = '* { background: rgb(9, 99, 199) !important }';
    const corner = async ({ image }: Snapshot) => [...(await pixelsOf(image)).data.subarray(0, 3)];

    it.each(['/short', '/strict-policy', '/js-redirect'])('applies css on %s, but not in the HTML', async (path) => {
      const snapshot = await capture(path, { css });
      expect(await corner(snapshot)).toEqual([9, 99, 199]);
      expect(snapshot.html).not.toContain('9, 99, 199');
    });

    it.each(['/loop', '/never'])('applies the style sheet to %s, a page that the deadline cuts', async (path) => {
      const snapshot = await capture(`${path}?at=${shortlyBeforeLate()}`, { css, ...LATE });
      expect(await corner(snapshot)).toEqual([9, 99, 199]);
      expect(snapshot.cutPhase).not.toBeNull();
    });

    it('restores the style sheet when the page replaces its adopted style sheets', async () => {
      expect(
        await corner(
          await capture('/short', {
            css,
            javascript: { before: "addEventListener('load', () => { document.adoptedStyleSheets = []; });" },
          }),
        ),
      ).toEqual([9, 99, 199]);
    });
  });

  describe('block', () => {
    it('blocks the named types, and nothing else', async () => {
      expect((await capture('/parts', {})).title).toBe('fetch frame image script stylesheet xhr');
      expect((await capture('/parts', { block: { types: ['image', 'xhr'] } })).title).toBe('frame script stylesheet');
      expect((await capture('/parts', { block: { types: ['stylesheet', 'script', 'other'] } })).title).toBe(
        'fetch frame image xhr',
      );
      const before = site.hits('/image.png');
      await capture('/parts', { block: { types: ['image'] } });
      expect(site.hits('/image.png')).toBe(before);
    });

    it('blocks the named URLs, exact or with a wildcard, including frames', async () => {
      const urls = ['*/part?type=text/html*', site.url('/image.png')];
      expect((await capture('/parts', { block: { urls } })).title).toBe('fetch script stylesheet xhr');
      expect((await capture('/parts', { block: { urls: ['*.png?*', '*/image', 'part'] } })).title).toContain('image');
    });

    it('never blocks the page itself', async () => {
      expect((await capture('/redirect?to=/parts', { block: { urls: ['*'] } })).title).toBe('nothing');
    });
  });
});
