import { describe, expect, it } from 'vitest';
import { patience } from '../support/actor.ts';
import { htmlRequest } from '../support/capture-request.ts';
import { actorForSuite } from '../support/for-suite.ts';
import { IN_FEW_PIXELS } from '../support/site-and-actor.ts';

const running = actorForSuite();

async function metadata(html: string) {
  const request = htmlRequest(html, { ...IN_FEW_PIXELS, outputs: ['metadata'] });
  const { outputs } = await running.actor.capture(request, patience);
  const { metadata: output } = outputs;
  const content = String(output?.content);
  return { found: output == null ? undefined : JSON.parse(content), partial: output?.partial, size: content.length };
}

describe('the output metadata', () => {
  it('has the canonical URL, feeds, Open Graph, names, JSON-LD and microdata of the page', async () => {
    const { found, partial } = await metadata(`<!doctype html><html lang=en><base href="https://harbour.example/a/">
      <link rel=canonical href="../lamps"><link rel=canonical href="/second">
      <link rel="alternate" type="application/rss+xml" title="News" href="/feed"><link rel=alternate hreflang=de type=text/html href=/de>
      <meta property="og:title" content="Lamps"><meta property="og:image" content="/1.png"><meta property="og:image" content="/2.png">
      <meta property="other:x" content="no"><meta name=description content=" Lamps for ships "><meta name="twitter:card" content="summary">
      <meta name=viewport content="width=100">
      <script type="application/ld+json">{"@type": "Product", "offers": [{"price": 12.5}]}</script>
      <script type="application/ld+json">{"@type": </script>
      <div itemscope itemtype="https://schema.org/Product" itemid="#lamp" itemref=far>
        <h1 itemprop="name alternateName">A  lamp</h1><img itemprop=image src=lamp.png>
        <div itemprop=offers itemscope itemtype="https://schema.org/Offer"><meta itemprop=price content=12.50><time itemprop=until datetime=2026-05-04>May</time></div>
        <div itemscope itemtype="https://schema.org/Thing"><b itemprop=name>Other</b></div>
      </div><p id=far><a itemprop=url href=/lamp>Far</a></p>`);
    expect(found).toEqual({
      canonical: 'https://harbour.example/lamps',
      language: 'en',
      feeds: [{ url: 'https://harbour.example/feed', type: 'application/rss+xml', title: 'News' }],
      open_graph: { 'og:title': ['Lamps'], 'og:image': ['/1.png', '/2.png'] },
      names: { description: ['Lamps for ships'], 'twitter:card': ['summary'] },
      json_ld: [{ '@type': 'Product', offers: [{ price: 12.5 }] }],
      json_ld_invalid: 1,
      microdata: [
        {
          type: ['https://schema.org/Product'],
          id: 'https://harbour.example/a/#lamp',
          properties: {
            name: ['A lamp'],
            alternateName: ['A lamp'],
            image: ['https://harbour.example/a/lamp.png'],
            offers: [{ type: ['https://schema.org/Offer'], properties: { price: ['12.50'], until: ['2026-05-04'] } }],
            url: ['https://harbour.example/lamp'],
          },
        },
        { type: ['https://schema.org/Thing'], properties: { name: ['Other'] } },
      ],
    });
    expect(partial).toBe(false);
  });

  it('is empty for a page that says nothing about itself', async () => {
    expect((await metadata('<p>Calm')).found).toEqual({
      canonical: null,
      language: null,
      feeds: [],
      open_graph: {},
      names: {},
      json_ld: [],
      json_ld_invalid: 0,
      microdata: [],
    });
  });

  it.each<[what: string, script: string]>([
    ['deep JSON', `json('['.repeat(10_000) + ']'.repeat(10_000))`],
    ['much JSON', `for (let i = 0; i < 8; i += 1) json(JSON.stringify('x'.repeat(200_000)))`],
    ['long texts', `write('<meta property="og:title" content="' + 'x'.repeat(1e6) + '">')`],
    [
      'items that refer to each other',
      `write('<p itemscope itemref="b c"><p id=b itemprop=x itemscope itemref="c d"><p id=c itemprop=x itemscope itemref="b d"><p id=d itemprop=x itemscope itemref="b c">')`,
    ],
    ['many items', `write('<div itemscope><b itemprop=a></b></div>'.repeat(5_000))`],
    [
      'a value with many names',
      `write('<div itemscope><b itemprop="' + Array.from({ length: 3_000 }, (_, at) => 'n' + at).join(' ') + '">' + 'x'.repeat(7_000))`,
    ],
    [
      'items with several names in each other',
      `write('<div itemscope>' + '<div itemscope itemprop="a b c">'.repeat(20) + '<b itemprop=x>x')`,
    ],
    [
      'short names',
      `const names = Array.from({ length: 4_000 }, (_, at) => at.toString(36)).join(' ');
       write(('<div itemscope><b itemprop="' + names + '"></b></div>').repeat(50))`,
    ],
    ['short types', `write(('<div itemscope itemtype="' + 'a '.repeat(8_000) + '"></div>').repeat(100))`],
    [
      'characters that JSON escapes',
      `write(('<meta name=author content="' + '\\x01'.repeat(9_000) + '">').repeat(100))`,
    ],
    ['numbers that JSON writes longer', `json('[' + '1e20,'.repeat(180_000) + '1]')`],
  ])('is cut at its bounds for a page with %s', async (_what, script) => {
    const { partial, size } = await metadata(
      `<!doctype html><body><p>Calm</p><script>
        const write = (html) => document.body.insertAdjacentHTML('beforeend', html);
        const json = (text) => document.body.append(Object.assign(document.createElement('script'), { type: 'application/ld+json', text }));
        ${script}</script>`,
    );
    expect(size).toBeLessThanOrEqual(1024 * 1024);
    expect(partial).toBe(true);
  });

  it('holds deep lists whole, also those of which most lines would be spaces', async () => {
    const list = `${'['.repeat(49)}${'1,'.repeat(100_000)}1${']'.repeat(49)}`;
    const { found, partial, size } = await metadata(`<script type="application/ld+json">${list}</script><p>Calm`);
    expect(found.json_ld[0].flat(50)).toHaveLength(100_001);
    expect(size).toBeLessThanOrEqual(1024 * 1024);
    expect(partial).toBe(false);
  });
});
