import { NAMED_OUTPUT_KINDS } from '../src/capture/artifacts.ts';
import type { CaptureOptions } from '../src/capture/request.ts';
import type { Result } from '../src/capture/result.ts';
import { createService } from '../src/mod.ts';
import { htmlRequest } from '../test/support/capture-request.ts';
import { makeDirectory } from '../test/support/temporary-directory.ts';
import type { BenchOptions } from './support/bench.ts';
import { type Finding, formatTable } from './support/table.ts';
import { watchTurns } from './support/watch-turns.ts';

const MAX_HELD_MS = 50;

/** Scripts that build pages with more than a capture can hold. */
const PAGES: Readonly<Record<string, string>> = {
  'nothing unusual': '',
  'a million nodes': `document.body.innerHTML += '<b>word</b>'.repeat(5e5)`,
  '500 frames': `for (let i = 0; i < 500; i += 1) document.body.append(Object.assign(document.createElement('iframe'), { srcdoc: '<p>frame ' + i }))`,
  '100 MB of text': `const text = 'word '.repeat(2e6); for (let i = 0; i < 10; i += 1) document.body.append(Object.assign(document.createElement('p'), { textContent: text, hidden: i > 1 }))`,
  '100 MB of text in Chinese': `const text = '\u6e2f\u53e3'.repeat(5e6); for (let i = 0; i < 5; i += 1) document.body.append(Object.assign(document.createElement('p'), { textContent: text, hidden: i > 1 }))`,
  'links with long addresses': `const text = '\\u6e2f'.repeat(1000); for (let i = 0; i < 6000; i += 1) document.body.append(Object.assign(document.createElement('a'), { href: '/' + i + 'x'.repeat(2e3), textContent: text }), ' ')`,
  'links that run scripts, and halves of surrogate pairs': `document.body.innerHTML += '<p><a href="javascript:alert(1)">\\ud83d run</a>'.repeat(2e4); for (const a of document.links) a.firstChild.data = 'a\\ud83d b'`,
  'frames of other origins': `for (let i = 0; i < 100; i += 1) document.body.append(Object.assign(document.createElement('iframe'), { sandbox: '', srcdoc: '<p>' + 'frame of text '.repeat(2e4) }))`,
  'large data for machines': `for (let i = 0; i < 100; i += 1) document.head.append(Object.assign(document.createElement('script'), { type: 'application/ld+json', textContent: JSON.stringify({ '@type': 'Thing', list: Array(1e4).fill({ name: '\\u6e2f\\u53e3' }) }) }))`,
};
const OUTPUTS: Readonly<Record<string, CaptureOptions>> = {
  none: {},
  all: {
    outputs: [...NAMED_OUTPUT_KINDS],
    markdown: { hidden: true },
    extract: { all: { selector: '*', many: true }, html: { selector: 'body', type: 'html' } },
  },
};

/**
 * Captures hostile pages in this process, and measures the longest turn of its event loop, in CPU time of the main thread,
 * so other programs on the machine do not count.
 */
export async function hostile({ rounds, print }: BenchOptions): Promise<readonly Finding[]> {
  const service = await createService({ dataDir: await makeDirectory(), maxConcurrent: 1 });
  try {
    const rows: string[][] = [];
    let longest = 0;
    for (const [page, script] of Object.entries(PAGES)) {
      for (const [outputs, options] of Object.entries(OUTPUTS)) {
        const held: number[] = [];
        const made = new Set<string>();
        for (let round = 0; round < rounds; round += 1) {
          const html = `<!doctype html><body><p>The beginning.</p><script>${script}</script>`;
          const request = htmlRequest(html, { timeoutMs: 60_000, ...options });
          const stop = watchTurns();
          await service.submit(request).forEach((outcome) => {
            made.add(outcome.state === 'stored' ? madeOf(outcome.result) : outcome.failure.code);
          });
          held.push(stop());
        }
        longest = Math.max(longest, ...held);
        rows.push([page, outputs, held.map((ms) => ms.toFixed(0)).join(', '), [...made].join('; ')]);
      }
    }
    print(formatTable(['page', 'outputs', 'longest turn of each capture (ms)', 'not made'], rows));
    const figure = `${longest.toFixed(0)} ms`;
    return [
      {
        what: 'longest turn of the event loop on hostile pages',
        figure,
        target: `${MAX_HELD_MS} ms`,
        met: longest <= MAX_HELD_MS,
      },
    ];
  } finally {
    await service.stop();
  }
}

function madeOf({ outputs }: Result): string {
  return (outputs ?? []).flatMap(({ name, bytes }) => (bytes === 0 ? [name] : [])).join(' ');
}
