import { withDigits } from './locales.ts';
import { box, inOrder, nice, type Shop, type Theme } from './theme.ts';

/* Pages that are read by what they tell machines, and pages with lists. */

const schema = (name: string) => `https://schema.org/${name}`;
const words = ({ locale, isEmpty }: Shop): string =>
  isEmpty ? box(300) : `<p>${locale.words.about}</p><p>${locale.words.about}</p>`;
const shown = ({ locale, offer, isEmpty, c }: Shop): string =>
  isEmpty
    ? box(80)
    : `<div class="${c('css-1x2y3z')}">${locale.write(offer.price)}${offer.to === undefined ? '' : ` – ${locale.write(offer.to)}`}</div><p>${offer.inStock ? locale.words.inStock : locale.words.outOfStock}</p>`;

const jsonLd: Theme = {
  name: 'JSON-LD',
  values: {
    price: { metadata: 'Product.offers.price', type: 'money' },
    stock: { metadata: 'Product.offers.availability' },
  },
  tells: { 'price change': ['price'], 'out of stock': ['stock'], 'price range': ['price'] },
  draw: (shop) => {
    const { locale, offer, isEmpty } = shop;
    const offers = [offer.price, offer.to].flatMap((price) =>
      price === undefined
        ? []
        : [
            {
              '@type': 'Offer',
              price: price.toFixed(locale.decimals),
              priceCurrency: locale.currency ?? 'IRR',
              availability: schema(offer.inStock ? 'InStock' : 'OutOfStock'),
            },
          ],
    );
    const product = {
      '@type': 'Product',
      name: 'Lamp',
      brand: { '@type': 'Brand', name: 'Harbour' },
      isRelatedTo: {
        '@type': 'Product',
        name: 'Oil',
        offers: { '@type': 'Offer', price: String(shop.other.next), priceCurrency: locale.currency },
      },
      offers: offers.length === 1 ? offers[0] : offers,
    };
    const crumbs = { '@type': 'BreadcrumbList', itemListElement: [] };
    const graph = JSON.stringify({
      '@context': 'https://schema.org',
      '@graph': shop.isReordered ? [product, crumbs] : [crumbs, product],
    });
    return {
      head: isEmpty ? '' : `<script type="application/ld+json">${graph}</script>`,
      body: inOrder(shop, `<div><h1>${isEmpty ? box(200) : 'Lamp'}</h1>${shown(shop)}</div>`, words(shop)),
    };
  },
};

const microdata: Theme = {
  name: 'microdata',
  values: {
    price: { metadata: 'Product.offers.price', type: 'money' },
    stock: { metadata: 'Product.offers.availability' },
  },
  tells: { 'price change': ['price'], 'out of stock': ['stock'], 'price range': ['price'] },
  draw: (shop) => {
    const { locale, offer, isEmpty, c } = shop;
    const one = (price: number) =>
      `<div itemprop="offers" itemscope itemtype="http://schema.org/Offer"><link itemprop="availability" href="http://schema.org/${offer.inStock ? 'InStock' : 'OutOfStock'}"><meta itemprop="priceCurrency" content="${locale.currency ?? 'IRR'}"><span class="${c('current-price')}" itemprop="price" content="${price}">${locale.write(price)}</span> ${locale.words.tax}</div>`;
    return {
      body: isEmpty
        ? `<div class="${c('product')}">${box(300)}${box(90)}</div>`
        : `<div itemscope itemtype="http://schema.org/Product"><h1 itemprop="name">Lamp</h1>${inOrder(shop, one(offer.price) + (offer.to === undefined ? '' : one(offer.to)), words(shop))}</div>`,
    };
  },
};

const openGraph: Theme = {
  name: 'Open Graph',
  values: {
    price: { metadata: 'product:price:amount', type: 'money' },
    stock: { metadata: 'product:availability' },
  },
  tells: { 'price change': ['price'], 'out of stock': ['stock'], 'price range': ['price'] },
  draw: (shop) => {
    const { locale, offer, isEmpty } = shop;
    const facts = [
      ['og:type', 'product'],
      ['product:price:amount', offer.price.toFixed(2)],
      ['product:price:currency', locale.currency ?? 'IRR'],
      ['product:availability', offer.inStock ? 'in stock' : 'out of stock'],
    ].map(([name, content]) => `<meta property="${name}" content="${content}">`);
    return {
      head: isEmpty ? '' : (shop.isReordered ? facts.reverse() : facts).join(''),
      body: inOrder(shop, `<h1>${isEmpty ? box(200) : 'Lamp'}</h1>${shown(shop)}`, words(shop)),
    };
  },
};

const grid: Theme = {
  name: 'a list of products',
  values: {
    price: { selector: '[data-sku="4711"] .price', type: 'money' },
    items: { selector: 'li.product-item', type: 'count' },
    total: { selector: '.toolbar-amount', type: 'number' },
  },
  tells: { 'price change': ['price'], 'out of stock': ['items', 'total'], 'price range': ['price'] },
  hasRange: true,
  draw: (shop) => {
    const { locale, offer, other, c, isEmpty } = shop;
    const item = (sku: number, price: string) =>
      `<li class="${c('product-item')}" data-sku="${sku}"><a href="/p/${sku}"><b>№ ${sku}</b></a> <span class="${c('price')}">${price}</span></li>`;
    const range = offer.to === undefined ? '' : ` – ${locale.write(offer.to)}`;
    const old = offer.old === undefined ? '' : `<s>${locale.write(offer.old)}</s> `;
    const others = [0.5, 0.8, 1.1, 1.9, 2.4].map((share, at) =>
      item(at + 1, locale.write(nice(other.next * share, locale))),
    );
    const mine = offer.inStock ? [item(4711, old + locale.write(offer.price) + range)] : [];
    const items = shop.isReordered ? [...others.reverse(), ...mine] : [...mine, ...others];
    const total = locale.words.results(withDigits(String(offer.inStock ? 86 : 85), locale.digits));
    return {
      body: isEmpty
        ? `<ol>${`<li class="${c('placeholder')}">${box(200)}${box(60)}</li>`.repeat(6)}</ol>`
        : `<h1>${locale.words.add}</h1><p class="${c('toolbar-amount')}">${total}</p><ol>${items.join('')}</ol>${words(shop)}`,
    };
  },
};

const jobs: Theme = {
  name: 'a list of jobs',
  values: {
    open: { selector: '#job-count', type: 'number' },
    here: { selector: '.job-card', type: 'count' },
  },
  tells: { 'price change': ['open', 'here'], 'out of stock': ['open', 'here'], 'price range': ['open', 'here'] },
  draw: (shop) => {
    const { locale, offer, c, isEmpty } = shop;
    const total = withDigits(String(offer.open), locale.digits);
    const cards = Array.from(
      { length: offer.open - 120 },
      (_, at) =>
        `<div class="${c('job-card')}"><a href="/jobs/${at}">${locale.words.jobs} ${at + 1}</a> <span>${at + 1} km</span></div>`,
    );
    if (shop.isReordered) cards.reverse();
    return {
      body: isEmpty
        ? `<h1 id="${c('job-count')}">${box(120)}</h1>${`<div class="${c('card-placeholder')}">${box(250)}</div>`.repeat(5)}`
        : `<h1 id="${c('job-count')}">${locale.words.results(total)}</h1>${cards.join('')}${words(shop)}`,
    };
  },
};

export const DATA_THEMES: readonly Theme[] = [jsonLd, microdata, openGraph, grid, jobs];
