import { describe, expect, it } from 'vitest';
import type { CaptureOptions } from '../../src/capture/request.ts';
import { patience } from '../support/actor.ts';
import { htmlRequest } from '../support/capture-request.ts';
import { actorForSuite } from '../support/for-suite.ts';
import { placeOf, pngOf } from '../support/image.ts';
import { IN_FEW_PIXELS } from '../support/site-and-actor.ts';

const running = actorForSuite();

async function extract(html: string, rules: CaptureOptions['extract'], options: CaptureOptions = {}) {
  const request = htmlRequest(html, { ...IN_FEW_PIXELS, extract: rules, ...options });
  const snapshot = await running.actor.capture(request, patience);
  const { extract: output } = snapshot.outputs;
  return {
    snapshot,
    values: output == null ? undefined : JSON.parse(String(output.content)),
    partial: output?.partial,
  };
}

const SHOP = `<!doctype html><html lang=de><base href="https://shop.example/a/">
  <h1> Harbour <b>lamps</b></h1>
  <p class=price style="display:none">9,99 €</p><p class=price>1.234 €</p>
  <p>Seit <time datetime="2026-05-04T10:00:00+02:00">Montag</time>, bis 6. Mai 2026</p>
  <ul>
    <li class=offer><b>Brass</b> <a href="../brass?x=1&y=2" data-count="1.234,50">Look</a></li>
    <li class=offer><b>Iron</b> <i style="opacity:0">Ignore this</i><a href="#iron">Look</a></li>
    <li class=offer style="color:#fff"><b>White</b></li>
  </ul>`;

describe('extract', () => {
  it('finds values of every type, by CSS and XPath, alone, in lists and nested', async () => {
    const { values, partial } = await extract(SHOP, {
      title: 'h1',
      heading: { selector: '//h1/b', type: 'html' },
      language: { attribute: 'lang' },
      price: { selector: '.price', type: 'number' },
      since: { selector: 'time', type: 'date' },
      until: { selector: 'p:has(time)', type: 'date' },
      names: { selector: '.offer b', many: true },
      offers: {
        selector: 'li.offer',
        many: true,
        rules: {
          name: 'b',
          all: {},
          link: { selector: './/a', attribute: 'href' },
          count: { selector: 'a', type: 'number', attribute: 'data-count' },
          letters: { selector: 'a', rules: { words: { many: true } } },
        },
      },
      nothing: '.nothing',
      none: { selector: '.nothing', many: true },
      nobody: { selector: '.nothing', rules: { name: 'b' } },
      unread: { selector: 'h1', type: 'number' },
    });
    const [brass, iron] = ['https://shop.example/brass?x=1&y=2', 'https://shop.example/a/#iron'];
    expect(values).toEqual({
      title: 'Harbour lamps',
      heading: '<b>lamps</b>',
      language: 'de',
      price: 1234,
      since: '2026-05-04T08:00:00Z',
      until: '2026-05-06',
      names: ['Brass', 'Iron', null],
      offers: [
        { name: 'Brass', all: 'Brass Look', link: brass, count: 1234.5, letters: { words: ['Look'] } },
        { name: 'Iron', all: 'Iron Look', link: iron, count: null, letters: { words: ['Look'] } },
        { name: null, all: null, link: null, count: null, letters: null },
      ],
      nothing: null,
      none: [],
      nobody: null,
      unread: null,
    });
    expect(partial).toBe(false);
  });

  it('says whether an element is there and empty, and reads no placeholders', async () => {
    const withText = { type: 'money', withText: true } as const;
    const { values } = await extract(
      '<p id=empty></p><p id=hidden style="display:none">1 €</p><main aria-busy=true><p id=busy>0,00 €</p></main><p aria-busy=false id=idle>2 €</p>',
      {
        empty: { selector: '#empty', ...withText },
        hidden: { selector: '#hidden', ...withText },
        busy: { selector: '#busy', ...withText },
        idle: { selector: '#idle', ...withText },
        none: { selector: '#none', ...withText },
        text: '#empty',
      },
    );
    const empty = { value: null, text: '' };
    const idle = { value: { amount: 2, to: null, currency: 'EUR' }, text: '2 €' };
    expect(values).toEqual({ empty, hidden: empty, busy: null, idle, none: null, text: null });
  });

  it('reads the cents of split prices in the digits of the page', async () => {
    const { values } = await extract(
      '<html lang=ar-EG><p style="font-size:28px">١٬٢٩٩<span style="display:none">٫</span><span style="font-size:13px">٩٩</span> ج.م.</p>',
      { price: { selector: 'p', type: 'money' } },
    );
    expect(values).toEqual({ price: { amount: 1299.99, to: null, currency: 'EGP' } });
  });

  it('reads prices as a visitor does: not what is struck through, and with cents that only their size sets apart', async () => {
    const { values } = await extract(
      `<!doctype html><html lang=de><style>.old { text-decoration: line-through }</style>
        <p id=struck><del>59,00 €</del> <b>47,50 €</b></p>
        <p id=styled><span class=old><i>59,00 €</i></span> 47,50 €</p>
        <p id=old class=old>59,00 €</p>
        <p id=raised>€ 12<sup>99</sup></p>
        <p id=small>1.299<small style="font-size: 50%">50</small> €</p>
        <p id=plain>Hall <b>12</b><b>99</b> €</p>
        <p id=beside><span>130</span><span>Kč</span><span>Cena: <s>190 Kč</s></span></p>
        <p id=request>Preis auf Anfrage</p>
        <data id=data value=47.5>47,50 €</data>
        <meta itemprop=price content="47.50">`,
      {
        struck: { selector: '#struck', type: 'money' },
        styled: { selector: '#styled', type: 'money', withText: true },
        old: { selector: '#old', type: 'money' },
        raised: { selector: '#raised', type: 'money' },
        small: { selector: '#small', type: 'money' },
        plain: { selector: '#plain', type: 'money' },
        beside: { selector: '#beside', type: 'money' },
        request: { selector: '#request', type: 'money', withText: true },
        missing: { selector: '#missing', type: 'money', withText: true },
        data: { selector: '#data', type: 'money' },
        meta: { selector: 'meta[itemprop=price]', type: 'money' },
        all: { selector: 'p:not(#beside)', type: 'money', many: true },
      },
    );
    const euros = (amount: number) => ({ amount, to: null, currency: 'EUR' });
    expect(values).toEqual({
      struck: euros(47.5),
      styled: { value: euros(47.5), text: '47,50 €' },
      old: euros(59),
      raised: euros(12.99),
      small: euros(1299.5),
      plain: euros(1299),
      beside: { amount: 130, to: null, currency: 'CZK' },
      request: { value: null, text: 'Preis auf Anfrage' },
      missing: null,
      data: euros(47.5),
      meta: { amount: 47.5, to: null, currency: null },
      all: [euros(47.5), euros(47.5), euros(59), euros(12.99), euros(1299.5), euros(1299), null],
    });
  });

  it('counts the elements that are seen, also in frames', async () => {
    const { values } = await extract(
      `<ul><li>1<li>2<li hidden>3<li style="opacity:0">4<li><img alt=""></ul>
        <iframe srcdoc="<ul><li>5<li>6</ul>"></iframe>`,
      {
        items: { selector: 'li', type: 'count' },
        framed: { selector: 'iframe >> li', type: 'count' },
        none: { selector: '.none', type: 'count' },
      },
    );
    expect(values).toEqual({ items: 3, framed: 2, none: 0 });
  });

  it('reads what the page says to machines', async () => {
    const { values } = await extract(
      `<title>Lamp</title><meta property="og:title" content="Brass lamp"><meta name=description content="Shines.">
        <meta property="product:price:amount" content="47.50"><meta property="product:price:currency" content="EUR">
        <script type="application/ld+json">{"@context": "https://schema.org", "@graph": [
          {"@type": "WebPage", "name": "Page"},
          {"@type": ["Product", "Thing"], "name": "Lamp", "offers": {"@id": "#offer"},
            "review": [{"@type": "Review", "author": "A"}, {"@type": "Review", "author": "B"}]},
          {"@type": "Offer", "@id": "#offer", "price": "1299.00", "priceCurrency": "CHF",
            "availability": "https://schema.org/InStock", "priceValidUntil": "2026-12-31"}
        ]}</script>
        <div itemscope itemtype="https://schema.org/Book"><b itemprop=name>Letters</b>
          <div itemprop=offers itemscope itemtype="https://schema.org/AggregateOffer">
            <meta itemprop=lowPrice content="12.99"><meta itemprop=highPrice content="15.99">
            <meta itemprop=priceCurrency content=USD></div></div>`,
      {
        title: { metadata: 'og:title' },
        description: { metadata: 'description' },
        social: { metadata: 'product:price:amount', type: 'money' },
        price: { metadata: 'Product.offers.price', type: 'money' },
        offer: { metadata: 'Product.offers', type: 'money', withText: true },
        stock: { metadata: 'Product.offers.availability' },
        until: { metadata: 'Product.offers.priceValidUntil', type: 'date' },
        authors: { metadata: 'Product.review.author', many: true },
        reviews: { metadata: 'Product.review.author', type: 'count' },
        book: { metadata: 'Book.name' },
        range: { metadata: 'Book.offers', type: 'money' },
        missing: { metadata: 'Recipe.name' },
        none: { metadata: 'Recipe.name', many: true },
      },
    );
    expect(values).toEqual({
      title: 'Brass lamp',
      description: 'Shines.',
      social: { amount: 47.5, to: null, currency: 'EUR' },
      price: { amount: 1299, to: null, currency: 'CHF' },
      offer: { value: { amount: 1299, to: null, currency: 'CHF' }, text: '1299.00 CHF' },
      stock: 'InStock',
      until: '2026-12-31',
      authors: ['A', 'B'],
      reviews: 2,
      book: 'Letters',
      range: { amount: 12.99, to: 15.99, currency: 'USD' },
      missing: null,
      none: [],
    });
  });

  it('reads shadow roots and text that a frame in the element has painted', async () => {
    const { values } = await extract(
      `<!doctype html><my-card><template shadowrootmode=open><h2>Inside</h2><slot></slot></template>slotted</my-card>
       <section>Before <iframe srcdoc="<p>framed"></iframe></section>`,
      { heading: 'my-card h2', card: 'my-card', section: 'section' },
    );
    expect(values.heading).toBe('Inside');
    expect(values.card).toMatch(/^Inside\s+slotted$/);
    expect(values.section).toMatch(/^Before\s+framed$/);
  });

  it('places a box where the element is in the image, and has none for what the image does not show', async () => {
    const page = `<!doctype html><body style="margin:0;height:3000px"><p hidden class=a>Hidden</p>
      <p class=a style="position:absolute;left:40px;top:900px;width:200px;height:50px;margin:0;background:rgb(200,0,0)"></p>`;
    const rules = { box: { selector: '.a', type: 'box' }, all: { selector: '.a', type: 'box', many: true } } as const;
    const whole = await extract(page, rules, { fullPage: true, viewport: { deviceScaleFactor: 2 } });
    const box = { x: 80, y: 1800, width: 400, height: 100 };
    expect(whole.values).toEqual({ box, all: [null, box] });
    expect(placeOf(await pngOf(whole.snapshot), [200, 0, 0], 60)).toEqual(box);
    expect((await extract(page, rules)).values).toEqual({ box: null, all: [null, null] });
  });

  it('enters frames by steps, also inside elements of an outer rule, and reads no text of invisible frames', async () => {
    const frame = (content: string, style = '') => `<iframe style="${style}" srcdoc="${content}"></iframe>`;
    const { values, partial } = await extract(
      `<!doctype html><ul><li>${frame('<b>Brass</b><i>1.234</i>')}<li>${frame('<b>Iron</b>')}${frame('<html lang=de><i>1.234</i>')}<li></ul>
       ${frame('<p lang=en>Ignore this', 'opacity:0')}${frame('<p lang=fr>Read this')}${'<iframe></iframe>'.repeat(96)}`,
      {
        lamps: {
          selector: 'li',
          many: true,
          rules: { name: 'iframe >> b', price: { selector: 'iframe >> i', type: 'number' } },
        },
        all: { selector: 'iframe >> b', many: true },
        languages: { selector: 'iframe >> p', many: true, attribute: 'lang' },
        words: { selector: 'iframe >> p', many: true },
        first: 'iframe >> p',
        boxes: { selector: 'iframe >> p[lang=en]', type: 'box', many: true },
      },
    );
    expect(values).toEqual({
      lamps: [
        { name: 'Brass', price: 1.234 },
        { name: 'Iron', price: 1234 },
        { name: null, price: null },
      ],
      all: ['Brass', 'Iron'],
      languages: ['en', 'fr'],
      words: [null, 'Read this'],
      first: 'Read this',
      boxes: [null],
    });
    // There are 101 frames, and at most 100 are entered.
    expect(partial).toBe(true);
  });

  it('reads the same values when Playwright drives the page', async () => {
    const rules = {
      title: 'h1',
      offers: { selector: '.offer', many: true, rules: { link: { selector: 'a', attribute: 'href' } } },
    };
    const [direct, driven] = await Promise.all([
      extract(SHOP, rules),
      extract(SHOP, rules, { waitForFunction: 'true', actions: [{ type: 'scroll', y: 10 }] }),
    ]);
    expect(driven.values).toEqual(direct.values);
  });

  it('names each rule whose selector the browser refuses', async () => {
    const html = '<p>Calm';
    const refused = extract(html, { good: 'p', bad: 'p:nope', deep: { selector: 'p', rules: { worse: '//p[@]' } } });
    await expect(refused).rejects.toMatchObject({
      code: 'invalid_request',
      problems: [{ path: 'extract.bad.selector' }, { path: 'extract.deep.rules.worse.selector' }],
    });
  });
});

describe('extract of hostile pages', () => {
  const HOSTILE: Readonly<Record<string, readonly [page: string, rules: CaptureOptions['extract'], isCut: boolean]>> = {
    'two hundred thousand elements that match': [
      `<p>The beginning.</p><script>document.body.innerHTML += '<b></b>'.repeat(2e5)</script>`,
      { all: { selector: '*', type: 'html', many: true }, first: { selector: 'p', type: 'html' } },
      true,
    ],
    'values that are larger than all may be': [
      `<p>The beginning.</p><script>const x = 'x'.repeat(1e5); for (let i = 0; i < 50; i += 1) document.body.append(Object.assign(document.createElement('b'), { title: x, textContent: x }))</script>`,
      { titles: { selector: 'b', attribute: 'title', many: true }, words: { selector: 'b', many: true } },
      true,
    ],
    'lists within lists within lists': [
      `<script>document.body.innerHTML = '<div>'.repeat(300)</script>`,
      {
        a: {
          selector: 'div',
          many: true,
          rules: { b: { selector: '//div', many: true, rules: { c: { selector: '//div', many: true } } } },
        },
      },
      true,
    ],
    'getters on prototypes, names of fields, and invalid surrogates': [
      `<form name=querySelectorAll><input name=getAttribute><input name=outerHTML><input name=children></form><p title="a">The beginning.</p><script>
        const p = document.querySelector('p');
        p.setAttribute('title', 'half \\ud83d'); p.append(' half \\ud83d');
        for (const [kind, name] of [[Element, 'outerHTML'], [Node, 'textContent'], [Document, 'documentElement'], [Element, 'localName']])
          Object.defineProperty(kind.prototype, name, { get() { for (;;); } });
        Element.prototype.getAttribute = Document.prototype.querySelectorAll = Array.prototype.map = Object.fromEntries = () => { for (;;); };
      </script>`,
      { text: 'p', title: { selector: 'p', attribute: 'title' }, form: { selector: 'form', type: 'html' } },
      false,
    ],
  };

  it.each(Object.entries(HOSTILE))(
    'are bounded, and cut where they must be: %s',
    async (_name, [page, rules, isCut]) => {
      const [hostile, neighbour] = await Promise.all([
        extract(`<!doctype html><body>${page}`, rules),
        extract('<p>Calm', { text: 'p' }),
      ]);
      expect(neighbour.values).toEqual({ text: 'Calm' });
      // An output for which there was no time is null.
      expect(JSON.stringify(hostile.values ?? '').length).toBeLessThan(4 * 1024 * 1024);
      if (isCut) expect(hostile.partial ?? true).toBe(true);
      else expect(hostile.values).toMatchObject({ text: 'The beginning. half \ufffd', title: 'half \ufffd' });
    },
  );
});
