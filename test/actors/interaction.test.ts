import { describe, expect, it } from 'vitest';
import type { Action } from '../../src/capture/options/interaction.ts';
import { failureOf } from '../support/actor.ts';
import { LATE } from '../support/capture-request.ts';
import { IN_FEW_PIXELS, siteAndActor } from '../support/site-and-actor.ts';

describe.concurrent('interaction with a page', () => {
  // As many slots as captures wait for their deadlines.
  const { capture, site } = siteAndActor(IN_FEW_PIXELS, 20);

  const acting = (...actions: Action[]) => capture('/interact', { actions });
  const refusalOf = async (promise: Promise<unknown>): Promise<[code: string, reason: string]> => {
    const { code, message } = await failureOf(promise);
    return [code, message];
  };

  describe('actions', () => {
    it('clicks, hovers, selects and checks as a person does, in order', async () => {
      const { title, cutPhase } = await acting(
        { type: 'click', selector: '#ring' },
        { type: 'hover', selector: '#shade' },
        { type: 'check', selector: '#agree' },
        { type: 'check', selector: '#agree' },
        { type: 'uncheck', selector: '#agree' },
        { type: 'select', selector: '#port', value: 'b' },
        { type: 'select', selector: '#port', value: 'Aa' },
        { type: 'select', selector: '#port', value: 'Lindholm-Café' },
      );
      expect(title).toBe('rang, hovered, agreed, refused, b, a, b');
      expect(cutPhase).toBeNull();
    });

    it('types key by key, replacing the content, and presses keys', async () => {
      const typed = await acting({ type: 'type', selector: '#note', text: 'boat' });
      expect(typed.title).toMatch(/, boat\/5$/);
      const { title } = await acting(
        { type: 'type', selector: '#search', text: 'tides ö' },
        { type: 'press', key: 'Backspace' },
        { type: 'press', key: 'Enter', selector: '#search' },
      );
      expect(title).toBe('searched tides');
    });

    it('scrolls to an element, the page by pixels, and the content of an element', async () => {
      const far = await acting({ type: 'scroll', selector: '#far' }, { type: 'wait', selector: '[data-at]' });
      expect(Number(/data-at="(\d+)/.exec(String(far.html))?.[1])).toBeGreaterThan(2000);
      const by = await acting(
        { type: 'scroll', y: 500 },
        { type: 'scroll', y: -100 },
        { type: 'wait', selector: '[data-at]' },
      );
      expect(by.html).toContain('data-at="400"');
      expect((await acting({ type: 'scroll', selector: '#box', y: 250 })).title).toBe('box at 250');
    });

    it('scrolls a form whose field hides how elements are scrolled', async () => {
      const scroll: Action = { type: 'scroll', selector: '#long', y: 250 };
      const { title } = await capture('/interact/hiding', {
        actions: [scroll],
        waitForFunction: "document.title !== 'Hiding'",
      });
      expect(title).toBe('form at 250');
    });

    it('waits for an element, and for a time', async () => {
      const { title, timings } = await acting(
        { type: 'click', selector: '#later' },
        { type: 'wait', selector: '#bell', ms: 400 },
        { type: 'click', selector: '#bell' },
      );
      expect(title).toBe('bell');
      expect(timings.interact).toBeGreaterThan(700);
    });

    it('accepts XPath, and uses the first of several elements', async () => {
      const { title } = await acting(
        { type: 'click', selector: '//button[text()="Ring again"]' },
        { type: 'click', selector: 'xpath=//button' },
        { type: 'click', selector: 'button' },
      );
      expect(title).toBe('rang again, rang, rang');
    });

    it('clicks the first visible element with a text, whatever its case', async () => {
      const snapshot = await acting({ type: 'click', text: 'ring  AGAIN' }, { type: 'click', text: 'Ring' });
      expect(snapshot.title).toBe('rang again, rang');
    });

    it('continues on the page that a click leads to, and captures it', async () => {
      const snapshot = await acting({ type: 'click', selector: '#away' });
      expect(snapshot).toMatchObject({ finalUrl: site.url('/short'), responseCode: 200, cutPhase: null });
      expect(snapshot.title).toContain('A small port');
      const back = await acting({ type: 'click', selector: '#away' }, { type: 'click', selector: 'a' });
      expect(back.finalUrl).toContain('/short');
    });

    it('dismisses dialogs, and records them', async () => {
      const { title, evidence } = await acting(
        { type: 'click', selector: '#ask' },
        { type: 'click', selector: '#ring' },
      );
      expect(title).toBe('sure: false, rang');
      expect(evidence.dialogs).toEqual({ items: [{ type: 'confirm', message: 'Are you sure?' }], omitted: 0 });
    });

    it('opens no popup, by script or by link', async () => {
      const { title, finalUrl, evidence } = await acting(
        { type: 'click', selector: '#popup' },
        { type: 'click', selector: '#outside' },
        { type: 'click', selector: '#ring' },
      );
      expect(title).toBe('popup: none, rang');
      expect(finalUrl).toBe(site.url('/interact'));
      expect(evidence.popups).toEqual({ items: [site.url('/medium'), site.url('/medium')], omitted: 0 });
    });

    it('stays on the page when a click starts a download', async () => {
      const { title } = await acting({ type: 'click', selector: '#cargo' }, { type: 'click', selector: '#ring' });
      expect(title).toBe('rang');
    });

    it.each<[string, Action, string]>([
      [
        'is not there',
        { type: 'click', selector: '#nobody' },
        'actions[1] (click): no visible element matches "#nobody"',
      ],
      [
        'has no such text',
        { type: 'click', text: 'Accept all' },
        'actions[1] (click): no visible element has the text "Accept all"',
      ],
      [
        'is not visible',
        { type: 'hover', selector: '#hidden' },
        'actions[1] (hover): no visible element matches "#hidden"',
      ],
      [
        'is to be pressed, and not there',
        { type: 'press', selector: '#nobody', key: 'a' },
        'actions[1] (press): no element matches "#nobody"',
      ],
      [
        'is to be scrolled to, and not there',
        { type: 'scroll', selector: '#nobody' },
        'actions[1] (scroll): no element matches "#nobody"',
      ],
      ['is read-only', { type: 'type', selector: '#fixed', text: 'x' }, 'actions[1] (type): element is not editable'],
      ['is disabled', { type: 'click', selector: '#off' }, 'actions[1] (click): element is not enabled'],
      [
        'is covered',
        { type: 'click', selector: '#covered' },
        'actions[1] (click): <div id="cover"></div> intercepts pointer events',
      ],
      [
        'has no such option',
        { type: 'select', selector: '#port', value: 'Paris' },
        'actions[1] (select): did not find some options',
      ],
    ])('fails on an element that %s, and names the action and the reason', async (_what, action, reason) => {
      const failed = capture('/interact', {
        actions: [{ type: 'click', selector: '#ring' }, action],
        ...LATE,
      });
      expect(await refusalOf(failed)).toEqual(['action_failed', reason]);
    });

    it.each<[Action, RegExp]>([
      [{ type: 'check', selector: '#ring' }, /^actions\[0\] \(check\): Not a checkbox or radio button$/],
      [{ type: 'press', key: 'Nonsense' }, /^actions\[0\] \(press\): Unknown key: "Nonsense"$/],
    ])('fails at once when %o can never be done', async (action, reason) => {
      const [code, text] = await refusalOf(acting(action));
      expect(code).toBe('action_failed');
      expect(text).toMatch(reason);
      expect(text).not.toContain('\n');
    });

    it('skips the remaining actions at the deadline, and captures the page as it is', async () => {
      const waiting: Action = { type: 'wait', ms: 60_000 };
      const actions: Action[] = [{ type: 'click', selector: '#ring' }, waiting, { type: 'click', selector: '#ring' }];
      expect(await capture('/interact', { actions, ...LATE })).toMatchObject({
        cutPhase: 'interact',
        title: 'rang',
      });
    });

    it('captures a page that never finishes loading as it is', async () => {
      const actions: Action[] = [{ type: 'click', selector: '#never' }];
      const snapshot = await capture('/interact', { actions, ...LATE });
      expect(snapshot).toMatchObject({ cutPhase: 'load', title: 'A page that never ends' });
    });

    it.each([
      ['keeps the page busy for ever', '#spin', 'spins'],
      ['leads to a page that never answers', '#hang', ''],
    ])('does not delay the capture when a click %s', async (_what, selector, title) => {
      // Waits first, so that the page spins for 4 s at most.
      const actions: Action[] = [
        { type: 'wait', ms: 8_000 },
        { type: 'click', selector },
      ];
      const snapshot = await capture('/interact', { actions, ...LATE });
      expect(snapshot).toMatchObject({ title, width: 320 });
      expect(snapshot.cutPhase).not.toBeNull();
    });
  });

  describe('form', () => {
    const fields = {
      ship: 'Anna "of" \\Lindholm',
      cargo: 'rope\ntar',
      'e-mail[0]': 'anna@example.com',
      insured: true,
      fast: false,
      with: 'tug',
      berth: 'south "quay"',
      port: 'Lindholm',
    };

    it('fills in a form by the names of its fields, and submits it by its button', async () => {
      const { title, finalUrl } = await capture('/interact/forms', { form: { selector: '#booking', fields } });
      expect(finalUrl).toBe(site.url('/interact/answer'));
      expect(title).toBe(
        'ship=Anna "of" \\Lindholm; cargo=rope tar; e-mail[0]=anna@example.com; insured=on; with=tug; ' +
          'berth=south "quay"; port=2; papers=; secret=x; way=sent by its button',
      );
    });

    it('uses the first form of the page by default, and submits it without a button, too', async () => {
      const { title } = await capture('/interact/forms', { form: { fields: { q: 'tides' } } });
      expect(title).toBe('q=tides');
    });

    it('submits a form whose field hides how forms are submitted', async () => {
      const { title } = await capture('/interact/hiding', { form: { fields: { q: 'tides' } } });
      expect(title).toBe('q=tides; requestSubmit=; ownerDocument=');
    });

    it('says when what it is to submit is no form', async () => {
      const form = { selector: '#shade', fields: {} };
      expect(await refusalOf(capture('/interact', { form }))).toEqual([
        'action_failed',
        'form.submit: the element is not a form',
      ]);
    });

    it('does not submit the form with submit: false', async () => {
      const { title, html } = await capture('/interact/forms', {
        form: { selector: '#booking', fields: { cargo: 'rope', with: 'pilot' }, submit: false },
        waitForFunction: "document.forms[1].cargo.value === 'rope' && document.forms[1].with[0].checked",
      });
      expect(title).toBe('Forms');
      expect(html).toContain('<form id="booking"');
    });

    it('fills in the form after the actions', async () => {
      const { title } = await capture('/interact', {
        actions: [{ type: 'wait', ms: 1 }],
        form: { selector: '//body', fields: {}, submit: false },
      });
      expect(title).toBe('');
    });

    it.each([
      [{ nobody: 'x' }, 'form.fields.nobody: no element matches "[name=\\"nobody\\"]"'],
      [{ ship: true }, 'form.fields.ship: takes text'],
      [{ port: true }, 'form.fields.port: takes the value or the text of an option'],
      [{ berth: true }, 'form.fields.berth: takes the value of the radio button to choose'],
      [{ berth: 'west' }, 'form.fields.berth: has nothing of that value to choose'],
      [{ papers: '/etc/passwd' }, 'form.fields.papers: takes a file, which cannot be given'],
      [{ secret: 'y' }, 'form.fields.secret: element is not visible'],
    ])('rejects %o with an error that names the field and the reason', async (wrong, reason) => {
      const form = { selector: '#booking', fields: wrong as Record<string, string | boolean> };
      expect(await refusalOf(capture('/interact/forms', { form, ...LATE }))).toEqual(['action_failed', reason]);
    });
  });

  describe('waitForFunction', () => {
    it.each([
      'window.port.open',
      '() => window.port.open',
      'async () => window.port.open',
      'function () { return port.open } // at last',
    ])('takes the screenshot when %s is true', async (waitForFunction) => {
      const snapshot = await capture('/interact/opens?ms=600', { waitForFunction });
      expect(snapshot).toMatchObject({ title: 'open', cutPhase: null });
    });

    it('evaluates the function on the page that an action leads to', async () => {
      const { finalUrl } = await capture('/interact', {
        actions: [{ type: 'click', selector: '#away' }],
        waitForFunction: "location.pathname === '/short'",
      });
      expect(finalUrl).toBe(site.url('/short'));
    });

    it('evaluates the function on a page whose policy forbids eval', async () => {
      const waitForFunction = "document.body.textContent.includes('quiet')";
      expect(await capture('/interact/strict', { waitForFunction })).toMatchObject({ title: 'Strict', cutPhase: null });
    });

    it('captures the page as it is when the function never returns true', async () => {
      const snapshot = await capture('/short', { waitForFunction: 'nobody.knows', ...LATE });
      expect(snapshot).toMatchObject({ cutPhase: 'wait', responseCode: 200 });
    });

    it('fails with script_failed for a syntax error', async () => {
      expect(await refusalOf(capture('/short', { waitForFunction: 'let sail = ;' }))).toEqual([
        'script_failed',
        "waitForFunction: SyntaxError: Unexpected identifier 'sail'",
      ]);
    });
  });
});
