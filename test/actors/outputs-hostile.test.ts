import { describe, expect, it } from 'vitest';
import type { CaptureOptions } from '../../src/capture/request.ts';
import { patience } from '../support/actor.ts';
import { htmlRequest } from '../support/capture-request.ts';
import { actorForSuite } from '../support/for-suite.ts';
import { IN_FEW_PIXELS } from '../support/site-and-actor.ts';

const MAX_CHARACTERS = 2 * 1024 * 1024;
const BEGINNING = 'The beginning.';

const running = actorForSuite();

/** The outputs without the accessibility tree: of much text, it takes all of its 8 s, and is null. */
const OF_TEXT = ['text', 'links', 'markdown', 'blocks'] as const satisfies CaptureOptions['outputs'];
const OUTPUTS: CaptureOptions['outputs'] = [...OF_TEXT, 'accessibility'];

/** Scripts that build pages with more than can be read, and which of the outputs are certainly cut. */
const PAGES: Readonly<Record<string, readonly [script: string, cut: readonly string[], outputs?: typeof OUTPUTS]>> = {
  'eleven thousand paragraphs': [`document.body.innerHTML += '<p>word <a href=x>word</a></p>'.repeat(1.1e4)`, []],
  '200 frames': [
    `for (let i = 0; i < 200; i += 1) document.body.append(Object.assign(document.createElement('iframe'), { srcdoc: '<p>frame ' + i }))`,
    ['accessibility'],
  ],
  'frames with long names': [
    `for (let i = 0; i < 20; i += 1) document.body.append(Object.assign(document.createElement('iframe'), { srcdoc: '<b role=img aria-label="' + 'word'.repeat(5e4) + '"></b>' }))`,
    ['accessibility'],
  ],
  '4 MB of text, half of it hidden': [
    `const text = 'word '.repeat(4.4e5); for (let i = 0; i < 2; i += 1) document.body.append(Object.assign(document.createElement('p'), { textContent: text, hidden: i > 0 }))`,
    ['text'],
    [...OF_TEXT],
  ],
  'four thousand elements over each other': [
    `document.body.innerHTML += '<b style="position:absolute;background:#ff0">word</b>'.repeat(4e3)`,
    [],
    // Each output finds out again what covers what, until its time ends: two of them show it.
    ['text', 'links'],
  ],
  'a hundred thousand spaces in preformatted text': [
    `document.body.innerHTML += '<pre>' + ' '.repeat(1e5) + 'word</pre>'`,
    [],
  ],
  'paragraphs that only the lines between them make too long': [
    `for (let i = 0; i < 32; i += 1) document.body.appendChild(document.createElement('p')).textContent = ('x'.repeat(127) + ' ').repeat(512).trim()`,
    ['text'],
    [...OF_TEXT],
  ],
  'tag names of 200 kB': [
    `const name = 'x-' + 'y'.repeat(2e5); for (let i = 0; i < 100; i += 1) { document.body.appendChild(document.createElement(name)).textContent = 'word ' + i; document.body.appendChild(document.createElement('p')).textContent = 'calm' }`,
    [],
  ],
  'links whose attributes JSON escapes': [
    `for (let i = 0; i < 1e3; i += 1) { const link = document.body.appendChild(document.createElement('a')); link.href = 'https://[' + '\x01'.repeat(2e3); link.textContent = 'word ' + i }`,
    ['links'],
  ],
  '480 nested elements': [`document.body.innerHTML += '<div>'.repeat(480) + '<p>word'`, []],
};

describe('outputs of hostile pages', () => {
  it.each(Object.entries(PAGES))(
    'are within their bounds for %s, and another page is not harmed',
    async (_name, [script, cut, outputs = OUTPUTS]) => {
      const page = `<!doctype html><body><p>${BEGINNING}</p><script>${script}</script>`;
      const [hostile, neighbour] = await Promise.all([
        running.actor.capture(htmlRequest(page, { ...IN_FEW_PIXELS, outputs }), patience),
        running.actor.capture(htmlRequest('<p>Calm', { ...IN_FEW_PIXELS, outputs: ['text'] }), patience),
      ]);
      const { text, links, markdown, blocks, accessibility } = hostile.outputs;
      // An output for which there was no time is null.
      const words = String(markdown?.content ?? BEGINNING);
      expect(words.length).toBeLessThanOrEqual(MAX_CHARACTERS + 1);
      expect(words.replace('\\', '')).toContain(BEGINNING);
      expect(JSON.parse(String(blocks?.content ?? '{"blocks":[]}')).blocks.length).toBeLessThanOrEqual(10_000);
      expect(blocks?.content.length ?? 0).toBeLessThanOrEqual(2 * MAX_CHARACTERS);
      expect(String(text?.content).startsWith(BEGINNING)).toBe(true);
      expect(text?.content.length).toBeLessThanOrEqual(MAX_CHARACTERS);
      if (cut.includes('text')) expect(text?.partial).toBe(true);
      expect(String(accessibility?.content ?? BEGINNING)).toContain(BEGINNING);
      expect(accessibility?.content.length ?? 0).toBeLessThanOrEqual(3 * MAX_CHARACTERS);
      if (cut.includes('accessibility')) expect(accessibility?.partial).toBe(true);
      const { links: found } = JSON.parse(String(links?.content));
      expect(found.length).toBeLessThanOrEqual(5000);
      // Names of fields and boxes are not counted.
      expect(links?.content.length).toBeLessThanOrEqual(MAX_CHARACTERS + found.length * 200);
      if (cut.includes('links')) expect(links?.partial).toBe(true);
      expect(neighbour.outputs.text).toEqual({ content: 'Calm\n', partial: false });
    },
  );

  it('answer the words that were found first when finding more takes all of the time', async () => {
    // Characters that nobody sees are taken out one by one: these take longer than the words may, and less than the 8 s
    // after which the browser ends it.
    const unseen = `document.body.append('\\u200b '.repeat(1e6) + 'word', document.createElement('p'))`;
    const page = `<!doctype html><body><p>${BEGINNING}</p><script>for (let i = 0; i < 4; i += 1) ${unseen}</script>`;
    const request = htmlRequest(page, { ...IN_FEW_PIXELS, outputs: ['markdown'] });
    const { markdown } = (await running.actor.capture(request, patience)).outputs;
    // On a slow machine the browser ends it before: it is null then.
    expect(String(markdown?.content ?? BEGINNING)).toContain(BEGINNING);
  });
});
