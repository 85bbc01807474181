import { describe, expect, it } from 'vitest';
import type { CaptureOptions } from '../../src/capture/request.ts';
import { HIDDEN, SECRET } from '../fixtures/hidden-text.ts';
import { patience } from '../support/actor.ts';
import { htmlRequest } from '../support/capture-request.ts';
import { actorForSuite } from '../support/for-suite.ts';
import { IN_FEW_PIXELS } from '../support/site-and-actor.ts';

const running = actorForSuite();

const capture = (html: string, options: CaptureOptions = {}) =>
  running.actor.capture(htmlRequest(html, { ...IN_FEW_PIXELS, outputs: ['text'], ...options }), patience);

async function textOf(html: string, options: CaptureOptions = {}): Promise<string> {
  const { outputs } = await capture(html, options);
  expect(outputs.text?.partial).toBe(false);
  return String(outputs.text?.content);
}

const pageOf = (part: string) => `<!doctype html><p>Before.</p>${part}<p>After.</p>`;

describe('the output text', () => {
  // Hidden text is tested in outputs-markdown.test.ts, with the same captures.
  it('separates blocks, lines and cells, and keeps the spaces of preformatted text', async () => {
    const text = await textOf(`<h1>Port  of
      Lindholm</h1><p>A <b>small</b> port<br>with <i>deep</i> water.</p><ul><li>One<li>Two</ul>
      <table><tr><th>Ship<th>Berth<tr><td>Ida<td>4</table><pre>if (a) {\n  b();\n}</pre>`);
    expect(text).toBe(
      'Port of Lindholm\n\nA small port\nwith deep water.\n\nOne\nTwo\n\nShip\tBerth\nIda\t4\n\nif (a) {\n  b();\n}\n',
    );
  });

  it('is the same when Playwright drives the capture', async () => {
    const page = pageOf(`${HIDDEN['white on white']}<p>${SECRET}`);
    expect(await textOf(page, { waitForFunction: 'true' })).toBe(await textOf(page));
  });

  it('is not changed by a page that replaces what it is read with', async () => {
    const sabotage = `<script>for (const proto of [Node.prototype, Element.prototype, Document.prototype, Range.prototype])
      for (const name of Object.getOwnPropertyNames(proto)) try { Object.defineProperty(proto, name, { get: () => undefined, value: undefined }) } catch {}
      window.getComputedStyle = () => { throw 1 }; performance.now = () => 0; JSON.stringify = () => 'no'</script>`;
    expect(await textOf(pageOf(`<p>${SECRET}</p>${sabotage}`))).toContain(SECRET);
  });

  it('is well-formed when the page has half of a surrogate pair', async () => {
    const text = await textOf(`<p id=p>x</p><script>p.textContent = 'a\\ud83d b'</script>`);
    expect(text).toBe('a\ufffd b\n');
  });

  it.each([
    ['divided evenly', ''],
    ['shifted by one character', 'x'],
  ])('arrives whole, with its HTML, from a page so long that it comes in parts: %s', async (_way, shift) => {
    const [ships, words] = [`${shift}${'\u{1f6a2}'.repeat(250_000)}`, 'word '.repeat(60_000).trim()];
    const { outputs, html } = await capture(
      `<!doctype html><p></p><p hidden></p><script>
        const [shown, hidden] = document.querySelectorAll('p');
        shown.textContent = 'word '.repeat(60000); hidden.textContent = '${shift}' + '\\u{1f6a2}'.repeat(250000)</script>`,
    );
    expect(String(outputs.text?.content) === `${words}\n`).toBe(true);
    expect(Buffer.from(html).toString().includes(`<p hidden="">${ships}</p>`)).toBe(true);
  });

  it('is not made unless it is asked for', async () => {
    expect((await capture('<p>x', { outputs: [] })).outputs).toEqual({});
  });
});
