import { describe, expect, it } from 'vitest';
import type { CaptureOptions } from '../../src/capture/request.ts';
import type { Snapshot } from '../../src/capture/result/snapshot.ts';
import { pageOfNames } from '../fixtures/hidden-names.ts';
import { failureOf, patience } from '../support/actor.ts';
import { htmlRequest } from '../support/capture-request.ts';
import { actorForSuite } from '../support/for-suite.ts';
import { pngOf } from '../support/image.ts';

const running = actorForSuite();

/** Returns the facts of a capture that are compared. The names of the fields and forms are in the HTML. */
async function factsOf(snapshot: Snapshot) {
  const { title, verdict, width, height, fullHeight, truncated, cutPhase, banner, elements, outputs } = snapshot;
  const texts = Object.entries(outputs).map(([kind, output]) => [kind, withoutNames(output)] as const);
  return {
    facts: { title, verdict, width, height, fullHeight, truncated, cutPhase, banner },
    elements: elements === null ? null : withoutNames(elements),
    outputs: Object.fromEntries(texts),
    html: withoutNames(snapshot.html),
    pixels: snapshot.image.subarray(0, 4).toString() === '%PDF' ? null : (await pngOf(snapshot)).data,
  };
}

/** The text of an output without the names, and without what differs between archives of the same page. */
function withoutNames(output: unknown): string {
  const bytes = (output as { content?: unknown } | null)?.content ?? output;
  const text = bytes instanceof Uint8Array ? Buffer.from(bytes).toString() : (JSON.stringify(bytes) ?? '');
  return text
    .replaceAll('=\r\n', '')
    .replaceAll(/<(input|form) name=(?:3D)?\\?"[^"]*"/g, '<$1>')
    .replaceAll(/\b(?:true|false) \? name/g, 'name')
    .replaceAll(/\r\nDate: [^\r]*/g, '')
    .replaceAll(/-{4}MultipartBoundary--\w+-{4}|(?:frame|css)-[\w-]+@mhtml\.blink/g, '');
}

async function capture(taken: boolean, options: CaptureOptions) {
  const request = htmlRequest(pageOfNames(taken), { elementMap: false, waitUntil: 'load', ...options });
  return await factsOf(await running.actor.capture(request, patience));
}

const CASES: Readonly<Record<string, CaptureOptions>> = {
  'the window, its verdict and its element map': { elementMap: true },
  'a page that has settled': { waitUntil: 'settled' },
  'a full page': { fullPage: true },
  'a full page of a locked body': {
    fullPage: true,
    css: 'html { overflow: hidden } body { height: 100vh; overflow: auto }',
  },
  hidePopups: { hidePopups: true },
  'hideFixed and hideChats': { hideFixed: true, hideChats: true, fullPage: true },
  'an element': { selector: 'form table' },
  'an element in a shadow tree': { selector: '.host p' },
  'an element in a frame': { selector: 'iframe >> p' },
  'an element by XPath': { selector: '//form//h2' },
  'hide, collapse and mask': { hide: ['h1'], collapse: ['ul'], mask: ['form td'] },
  'a page without animations': { animations: 'disabled' },
  'a PDF of one sheet': { format: 'pdf', pdf: { singlePage: true } },
  waitForSelector: { waitForSelector: '.report' },
  'the outputs': {
    outputs: ['markdown', 'blocks', 'text', 'links', 'metadata', 'mhtml', 'aria'],
    extract: { places: { selector: 'form td', many: true }, links: { selector: 'a', attribute: 'href', many: true } },
  },
  'the outputs of the whole page': { outputs: ['markdown', 'blocks'], markdown: { scope: 'page', hidden: true } },
  'an action without Playwright: scrolling': { actions: [{ type: 'scroll', selector: '.end' }] },
};

describe('a page whose fields and forms have the names of members', () => {
  it.each(Object.entries(CASES))('gives what a page with other names gives: %s', async (_, options) => {
    const [plain, taken] = await Promise.all([capture(false, options), capture(true, options)]);
    expect(taken.facts).toEqual(plain.facts);
    expect(taken.elements).toEqual(plain.elements);
    expect(taken.outputs).toEqual(plain.outputs);
    expect(taken.html).toEqual(plain.html);
    expect(taken.pixels?.equals(plain.pixels ?? Buffer.alloc(0))).toBe(plain.pixels === null ? undefined : true);
  });

  it.each(['shadowRoot', 'checkVisibility', 'childNodes', 'getAttribute', 'ownerDocument'])(
    'describes the roles of fields whose ids are members, and that others refer to: %s',
    async (id) => {
      const rolesOf = async (name: string) => {
        const html = `<form><label for="${name}">Vessel</label><input id="${name}" value="Kittiwake">
          <h2 id="owned">Owner</h2><button aria-labelledby="owned ${name}"></button><p>Words</p></form>`;
        const request = htmlRequest(html, { elementMap: false, outputs: ['aria'] });
        const { outputs } = await running.actor.capture(request, patience);
        return String(outputs.aria?.content);
      };
      const plain = await rolesOf('vessel');
      expect(plain).toContain('textbox "Vessel": Kittiwake');
      expect(plain).toContain('button "Owner Kittiwake"');
      expect(await rolesOf(id)).toBe(plain);
    },
  );

  it.each<[string, CaptureOptions]>([
    ['typing', { actions: [{ type: 'type', selector: '.vessel', text: 'Kittiwake' }] }],
    ['a click', { actions: [{ type: 'click', selector: '.report' }] }],
    ['a form', { form: { selector: '#all', fields: { draught: '3 m' }, submit: false } }],
  ])('fails an action whose elements Playwright cannot read, and says so: %s', async (_, options) => {
    expect(await failureOf(capture(true, options))).toMatchObject({ code: 'action_failed' });
    expect((await capture(false, options)).facts.cutPhase).toBe(null);
  });
});
