import { describe, expect, it } from 'vitest';
import { patience } from '../support/actor.ts';
import { htmlRequest } from '../support/capture-request.ts';
import { actorForSuite } from '../support/for-suite.ts';
import { IN_FEW_PIXELS } from '../support/site-and-actor.ts';

const running = actorForSuite();

async function markdownOf(main: string): Promise<string> {
  const html = `<!doctype html><title>Shop</title>
    <header class="site-header"><a href="/">Home</a> <a href="/cart">Cart</a> <form role="search"><button>Search</button></form></header>
    <nav class="main-nav"><ul>${repeated(12, (at) => `<li><a href="/c/${at}">Category ${at}</a>`)}</ul></nav>
    ${main}
    <footer class="site-footer"><p>© The shop. All rights reserved.<p><a href="/privacy">Privacy policy</a></footer>`;
  const request = htmlRequest(html, { ...IN_FEW_PIXELS, outputs: ['markdown'] });
  const snapshot = await running.actor.capture(request, patience);
  return String(snapshot.outputs.markdown?.content);
}

function repeated(count: number, part: (at: number) => string): string {
  return Array.from({ length: count }, (_, at) => part(at + 1)).join('\n');
}

const FRAME = /Home|Cart|Category|All rights|Privacy/;

describe('the main content', () => {
  it('of a product has its name, description and data, and no other products', async () => {
    const text = await markdownOf(`<main><h1>Lantern of brass</h1><p class="price">$ 48.00</p>
      <p>A lantern for the deck, cast in one piece and polished by hand, which burns for nine hours with one filling.</p>
      <h2>Data</h2><table><tr><td>Height<td>31 cm<tr><td>Weight<td>2 kg<tr><td>Fuel<td>paraffin</table>
      <h2>You may also like</h2><div class="related-products">${repeated(8, (at) => `<div class="card"><a href="/p/${at}">Other lamp ${at}</a></div>`)}</div></main>`);
    expect(text.startsWith('# Lantern of brass')).toBe(true);
    expect(text).toContain('burns for nine hours');
    expect(text).toMatch(/Height +\| 31 cm[\s\S]*Fuel +\| paraffin/);
    expect(text).not.toMatch(/Other lamp|You may also like/);
    expect(text).not.toMatch(FRAME);
  });

  it('of a product whose description is announced to search engines has the description, and nothing that is not painted', async () => {
    const description =
      'A lantern for the deck, cast in one piece and polished by hand, which burns for nine hours with one filling. Its glass is blown in the old yard, and its handle folds away when it hangs from the boom.';
    const delivery =
      'Parcels leave for the islands on every second morning, with the ferry that carries the mail, and reach them the next day at noon';
    const pageOf = (announced: object) =>
      markdownOf(`<script type="application/ld+json">${JSON.stringify(announced)}</script>
        <main><h1>Lantern of brass</h1><p>${description}</p><ul><li>${delivery}<li>Returns within thirty days</ul></main>`);
    expect(await pageOf({ '@type': ['Thing', { toString: 0 }] })).toContain(delivery);
    const product = { '@type': 'Product', description: `<p>${description}</p> Not painted.` };
    const text = await pageOf({ '@graph': [product] });
    expect(text).toContain('# Lantern of brass');
    expect(text).toContain(description);
    expect(text).not.toMatch(/ferry|Not painted/);
    expect(await pageOf([product, { ...product, description: delivery }])).toContain(delivery);
  });

  it('writes a repeated text once, but keeps every copy of code and table cells', async () => {
    const text = 'A lantern for the deck, cast in one piece and polished by hand, which burns for nine hours.';
    const command = 'lantern --light --hours 9 --at dusk';
    const found = await markdownOf(`<main><h1>Lantern of brass</h1>
      <div class="for-phones"><p>${text}</p></div><div class="for-desktops"><p>${text}</p></div>
      <p>This lights it from a terminal:</p><pre>${command}</pre><div class="note"><p>At noon, it is lit in the same way:</p><pre>${command}</pre></div>
      <table><tr><th>Lamp<th>Text<tr><td>Lantern<td>${text}</table></main>`);
    expect(found.match(/polished by hand/g)).toHaveLength(2);
    expect(found.match(/\| Lantern +\| A lantern for the deck/)).not.toBeNull();
    expect(found.match(/--at dusk/g)).toHaveLength(2);
  });

  it('of a listing has all of its entries with their links', async () => {
    const text = await markdownOf(
      `<main><h1>News of the harbour</h1>${repeated(
        15,
        (at) => `<div class="entry"><h2><a href="https://harbour.example/${at}">Ship number ${at} has come in</a></h2>
        <p>It brought timber and wool from the north, and will leave for the islands with the next tide.</p></div>`,
      )}</main>`,
    );
    expect(text.match(/## \[Ship number \d+ has come in\]\(https:\/\/harbour\.example\/\d+\)/g)).toHaveLength(15);
    expect(text.match(/brought timber and wool/g)).toHaveLength(15);
    expect(text).not.toMatch(FRAME);
  });

  it('of a chapter has its title before the table of contents, and the captions of its tables', async () => {
    const request = htmlRequest(
      `<!doctype html><title>Chapter 8. Ropes</title>
      <div class="navheader"><table><tr><th colspan="3">Chapter 8. Ropes<tr><td><a href="/7">Prev</a><td>Part II. On deck<td><a href="/9">Next</a></table></div>
      <div class="chapter"><div class="titlepage"><h2 class="title">Chapter 8. Ropes</h2></div>
      <div class="toc"><p><strong>Table of Contents</strong></p><dl class="toc">${repeated(
        12,
        (at) => `<dt><a href="/8.${at}">8.${at}. ${['Ropes of hemp', 'Splices', 'Care'][at % 3]}</a></dt>`,
      )}</dl></div>
      <p>The yard keeps ropes of many kinds, and a master of the deck may order others with the form that lies in the office.</p>
      <p>Table 8.1 shows all kinds that the yard keeps at any time. Most of the other names are those of the islands.</p>
      <div class="table"><p class="title"><strong>Table 8.1. Kinds of ropes</strong></p><div class="table-contents"><table>
      <thead><tr><th>Name<th>Fibre<th>Use</thead>${repeated(9, (at) => `<tr><td>rope ${at}<td>hemp of ${at} strands<td>for mooring a ship of ${at} masts`)}</table></div></div>
      <p>Ropes that are not in the table are made within a week, when the weather allows the walk to be used.</p></div>
      <div class="navfooter"><hr><table><tr><td><a href="/7">Prev</a><td><a href="/">Home</a><td><a href="/9">Next</a></table></div>`,
      { ...IN_FEW_PIXELS, outputs: ['markdown'] },
    );
    const { outputs } = await running.actor.capture(request, patience);
    const text = String(outputs.markdown?.content);
    expect(text.trim().split('\n')[0]).toBe('## Chapter 8. Ropes');
    expect(text).toMatch(/\*\*Table 8\.1\. Kinds of ropes\*\*\n+\| Name/);
  });

  it('has the title that the document names, and not the name of the site in its place', async () => {
    const html = `<!doctype html><title>Ropes of hemp \u2013 Acme</title><div class="brand"><h3>Acme</h3></div>
      <ul class="tools"><li><a href="/print">Print</a><li><a href="/mail">Mail</a></ul>
      <h2>Ropes of hemp</h2><ul class="tools"><li><a href="/a">Splices</a><li><a href="/b">Care</a><li><a href="/c">Prices</a></ul>
      <p>The yard keeps ropes of many kinds, and a master of the deck may order others with the form that lies in the office.</p>
      <p>Ropes that are not in the table are made within a week, when the weather allows the walk to be used.</p>`;
    const { outputs } = await running.actor.capture(
      htmlRequest(html, { ...IN_FEW_PIXELS, outputs: ['markdown'] }),
      patience,
    );
    expect(String(outputs.markdown?.content)).toMatch(/^## Ropes of hemp/m);
  });

  it('of a thread has all of its posts, short ones too', async () => {
    const posts = ['Which rope do you use for mooring?', 'Polyester, eight strands.', 'The same here, for years.'];
    const text = await markdownOf(
      `<div class="thread"><h1>Ropes for mooring</h1>${posts
        .map(
          (post, at) =>
            `<div class="post"><div class="author">sailor${at}</div><div class="message"><p>${post}</div></div>`,
        )
        .join('\n')}</div>`,
    );
    for (const post of posts) expect(text).toContain(post);
    expect(text).not.toMatch(FRAME);
  });

  it('has the list that a text introduces, and the list of terms between two texts', async () => {
    const text = await markdownOf(`<main><article><h1>How to install Ferry</h1>
      <p>This guide shows how to install Ferry on a Linux server, how to start it with systemd, and how to keep it up to date. You need an account with the right to install packages.</p>
      <h2>Needs</h2><p>The service keeps what it knows in one of these databases:</p><ul><li><a href="/a">SQLite</a></li><li><a href="/b">MongoDB</a></li></ul>
      <p>The service listens here unless you say otherwise, and writes its log there.</p>
      <dl><dt>Port<dd>80<dt>Log<dd>journal</dl>
      <p>Read the page about backups, and set up a timer that copies the database every night to another machine.</p></article></main>`);
    expect(text).toMatch(/databases:\n\n- \[SQLite\].*\n- \[MongoDB\]/);
    expect(text).toContain('- Port: 80\n- Log: journal');
    expect(text).not.toMatch(FRAME);
  });

  it('keeps a displayed formula that follows its text', async () => {
    const equation = (tex: string, letters: string) =>
      `<math display=block><semantics><mrow>${letters}</mrow><annotation encoding="application/x-tex">${tex}</annotation></semantics></math>`;
    const text =
      await markdownOf(`<main><article><h1>Energy</h1><p>Mass and energy are the same physical entity and can be changed into each other, as the paper of 1905 has shown. The following formulas are found in it.</p>
      <p>For a body at rest ${equation('a=b', '<mi>a</mi><mo>=</mo><mi>b</mi>')}</p>
      <p>and at any velocity ${equation('c=d', '<mi>c</mi><mo>=</mo><mi>d</mi>')}${equation('e=f', '<mi>e</mi><mo>=</mo><mi>f</mi>')}</p></article></main>`);
    expect(text).toContain('For a body at rest\n\n$$a=b$$\n\nand at any velocity\n\n$$c=d$$\n\n$$e=f$$');
    expect(text).not.toMatch(FRAME);
  });

  it('has code as it was written, with the language that the elements around it name', async () => {
    const text =
      await markdownOf(`<main><h1>Tides</h1><p>This computes the height of the tide at any time of the day.</p>
      <div class="highlight-python notranslate"><div class="highlight"><pre>\n<span>def</span><span> </span>tide(at):\n    <b>return</b> at\n\n</pre></div></div></main>`);
    expect(text).toContain('```python\ndef tide(at):\n    return at\n```');
  });

  it('writes the content of layout tables as Markdown, and lists in cells line by line', async () => {
    const tide = 'The tide is low in the morning and high at noon, and ships call when it rises.';
    const text =
      await markdownOf(`<main><table><tr><td><h1>Tides</h1><tr><td><p>${tide}</p><p>${tide} <a href="https://harbour.example/a_(b)_(c)">More</a></p>
      <table><tr><th>Ship<th>Cargo<tr><td>Ida<td><ul><li>timber<li>wool<ul><li>white</ul></ul><tr><td>Uta<td>salt</table></table>
      <table><tr><td>Note<td><p>${tide}</p></table></main>`);
    expect(text.startsWith(`# Tides\n\n${tide}\n\n${tide} [More](https://harbour.example/a_%28b%29_%28c%29)`)).toBe(
      true,
    );
    expect(text).toMatch(
      /\| Ship \| Cargo \|\n\| -+ \| -+ \|\n\| Ida \| timber *<br>wool *<br>white +\|\n\| Uta \| salt +\|/,
    );
    expect(text).toMatch(/Note\n\nThe tide is low/);
    expect(text).not.toMatch(/<(?!br>)/);
  });
});
