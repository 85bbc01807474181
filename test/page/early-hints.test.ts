import { describe, expect, it } from 'vitest';
import { preloadsIn } from '../../src/page/evidence/early-hints.ts';

const preloadsOf = (link: string) => [...preloadsIn({ Link: link }, 'https://site.example/shop/')];

describe('the links of an early hint', () => {
  it.each([
    ['</a.css>; rel=preload; as=style, </b.js>;rel=modulepreload', ['/a.css', '/b.js']],
    ['</a.css>; as=style; REL = "prefetch Preload", <b.js>; as=script; rel="modulepreload"', ['/a.css', '/shop/b.js']],
    ['</a.css>; rel=preload\n</b.js>; rel=preload', ['/a.css', '/b.js']],
    ['<https://site.example>; rel=preconnect, </a.css>; title=preload, </b.css>; rel=no-preload', []],
    ['</a.css>, </b.css>; rel=, <//[>; rel=preload, <c.css; rel=preload', []],
  ])('are preloads when their relations say so: %j', (link, paths) => {
    expect(preloadsOf(link)).toEqual(paths.map((path) => `https://site.example${path}`));
  });

  it.each([
    ['before the relation', `;${' '.repeat(200_000)}rel=preload`],
    ['after the equals sign', `; rel=${' '.repeat(200_000)}`],
    ['in the relation', `; rel="${' '.repeat(200_000)}`],
    ['between many relations', `; rel= ;${' '.repeat(100)}`.repeat(2_000)],
  ])('are found although another one has 200,000 characters of spaces %s', (_, parameters) => {
    expect(preloadsOf(`</a.css>${parameters}, </used.css>; rel=preload`)).toEqual(['https://site.example/used.css']);
  });
});
