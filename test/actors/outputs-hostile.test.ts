import { describe, expect, it } from 'vitest';
import { patience } from '../support/actor.ts';
import { htmlRequest } from '../support/capture-request.ts';
import { actorForSuite } from '../support/for-suite.ts';

const MAX_CHARACTERS = 2 * 1024 * 1024;
const BEGINNING = 'The beginning.';

const running = actorForSuite();

/** Scripts that build pages with more than can be read, and whether text and accessibility trees are certainly cut. */
const PAGES: Readonly<Record<string, readonly [script: string, isCut: boolean, isTreeCut?: boolean]>> = {
  'thirty thousand paragraphs': [`document.body.innerHTML += '<p>word <a href=x>word</a></p>'.repeat(3e4)`, false],
  '200 frames': [
    `for (let i = 0; i < 200; i += 1) document.body.append(Object.assign(document.createElement('iframe'), { srcdoc: '<p>frame ' + i }))`,
    false,
    true,
  ],
  'frames with long names': [
    `for (let i = 0; i < 20; i += 1) document.body.append(Object.assign(document.createElement('iframe'), { srcdoc: '<b role=img aria-label="' + 'word'.repeat(5e4) + '"></b>' }))`,
    false,
    true,
  ],
  '20 MB of text': [
    `const text = 'word '.repeat(4e5); for (let i = 0; i < 10; i += 1) document.body.append(Object.assign(document.createElement('p'), { textContent: text, hidden: i > 1 }))`,
    true,
  ],
  'ten thousand elements over each other': [
    `document.body.innerHTML += '<b style="position:absolute;background:#ff0">word</b>'.repeat(1e4)`,
    false,
  ],
  'two hundred thousand spaces in preformatted text': [
    `document.body.innerHTML += '<pre>' + ' '.repeat(2e5) + 'word</pre>'`,
    false,
  ],
  '480 nested elements': [`document.body.innerHTML += '<div>'.repeat(480) + '<p>word'`, false],
};

describe('outputs of hostile pages', () => {
  it.each(Object.entries(PAGES))(
    'are within their bounds for %s, and another page is not harmed',
    async (_name, [script, isCut, isTreeCut]) => {
      const page = `<!doctype html><body><p>${BEGINNING}</p><script>${script}</script>`;
      const [hostile, neighbour] = await Promise.all([
        running.actor.capture(
          htmlRequest(page, { outputs: ['text', 'links', 'markdown', 'blocks', 'accessibility'], timeoutMs: 60_000 }),
          patience,
        ),
        running.actor.capture(htmlRequest('<p>Calm', { outputs: ['text'], timeoutMs: 60_000 }), patience),
      ]);
      const { text, links, markdown, blocks, accessibility } = hostile.outputs;
      // An output for which there was no time is null.
      const words = String(markdown?.content ?? BEGINNING);
      expect(words.length).toBeLessThanOrEqual(MAX_CHARACTERS + 1);
      expect(words.replace('\\', '')).toContain(BEGINNING);
      expect(JSON.parse(String(blocks?.content ?? '{"blocks":[]}')).blocks.length).toBeLessThanOrEqual(10_000);
      expect(String(text?.content).startsWith(BEGINNING)).toBe(true);
      expect(text?.content.length).toBeLessThanOrEqual(MAX_CHARACTERS);
      if (isCut) expect(text?.partial).toBe(true);
      expect(String(accessibility?.content ?? BEGINNING)).toContain(BEGINNING);
      expect(accessibility?.content.length ?? 0).toBeLessThanOrEqual(3 * MAX_CHARACTERS);
      if (isTreeCut) expect(accessibility?.partial).toBe(true);
      const { links: found } = JSON.parse(String(links?.content));
      expect(found.length).toBeLessThanOrEqual(5000);
      expect(neighbour.outputs.text).toEqual({ content: 'Calm\n', partial: false });
    },
    120_000,
  );
});
