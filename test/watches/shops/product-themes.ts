import { box, inOrder, otherProducts, type Shop, split, type Theme } from './theme.ts';

/*
 * Product pages after the markup of widespread shop software. Each price has other amounts around it: struck ones,
 * savings, instalments, prices of a kilogram, shipping.
 */

const PRICE = { 'price change': ['price'], 'price range': ['price'] } as const;
const AND_STOCK = { ...PRICE, 'out of stock': ['stock'] } as const;
const HIDDEN =
  'border:0;clip:rect(1px,1px,1px,1px);clip-path:inset(50%);height:1px;width:1px;margin:-1px;overflow:hidden;position:absolute;word-wrap:normal';

const titleOf = ({ isEmpty, locale }: Shop): string =>
  isEmpty ? `<h1>${box(240)}</h1>` : `<h1>${locale.words.about.split('.')[0]}</h1>`;
const about = ({ isEmpty, locale }: Shop): string =>
  isEmpty
    ? `<div>${box(300)}${box(280)}${box(300)}</div>`
    : `<div><p>${locale.words.about}</p><p>${locale.words.about}</p></div>`;

const wooCommerce: Theme = {
  name: 'WooCommerce',
  values: {
    price: { selector: '.summary .price', type: 'money' },
    stock: { selector: '.summary button.single_add_to_cart_button', type: 'count' },
  },
  tells: AND_STOCK,
  hasRange: true,
  draw: (shop) => {
    const { locale, offer, c, isEmpty } = shop;
    const { words } = locale;
    const amount = (value: number) =>
      `<span class="${c('woocommerce-Price-amount')} ${c('amount')}"><bdi>${isEmpty ? '' : locale.write(value)}</bdi></span>`;
    const spoken = (word: string, value: number) =>
      isEmpty
        ? ''
        : `<span class="${c('screen-reader-text')}" style="${HIDDEN}">${word}: ${locale.write(value)}.</span>`;
    const shown =
      offer.to !== undefined
        ? `${amount(offer.price)} <span aria-hidden="true">–</span> ${amount(offer.to)}`
        : offer.old === undefined
          ? amount(offer.price)
          : `<del aria-hidden="true">${amount(offer.old)}</del> ${spoken(words.was, offer.old)}<ins aria-hidden="true">${amount(offer.price)}</ins>${spoken(words.now, offer.price)}`;
    const stock = offer.inStock
      ? `<p class="${c('stock')} ${c('in-stock')}">${words.inStock}</p><form class="${c('cart')}"><input type="number" value="1"><button class="${c('single_add_to_cart_button')} ${c('button')}">${words.add}</button></form>`
      : `<p class="${c('stock')} ${c('out-of-stock')}">${words.outOfStock}</p>`;
    const related = otherProducts(
      shop,
      (price, at) =>
        `<li class="${c('product')}"><a href="/p/${at}"><h2>№ ${at + 1}</h2><span class="${c('price')}">${price}</span></a></li>`,
    );
    return {
      body: inOrder(
        shop,
        `<div class="${c('product')}"><div class="${c('summary')} ${c('entry-summary')}">${titleOf(shop)}<p class="${c('price')}">${shown}</p>${about(shop)}${isEmpty ? '' : stock}</div></div>`,
        isEmpty ? '' : related,
      ),
    };
  },
};

const dawn: Theme = {
  name: 'Shopify',
  values: {
    price: { selector: '.product__info-wrapper .price', type: 'money' },
    stock: { selector: 'button[name=add]:not([disabled])', type: 'count' },
  },
  tells: AND_STOCK,
  draw: (shop) => {
    const { locale, offer, c, isEmpty } = shop;
    const { words } = locale;
    const hidden = (text: string) =>
      `<span class="${c('visually-hidden')} ${c('visually-hidden--inline')}">${isEmpty ? '' : text}</span>`;
    const price = isEmpty ? '--' : `${offer.to === undefined ? '' : `${words.from} `}${locale.write(offer.price)}`;
    const old = isEmpty ? '' : locale.write(offer.old ?? offer.price);
    const unit = `<small class="${c('unit-price')}"><dl><dt>${hidden('Unit price')}</dt><dd>${words.perKilo(locale.write(shop.other.kilo))}</dd></dl></small>`;
    return {
      head: `<style>.${c('price__sale')}{display:none}.${c('price--on-sale')} .${c('price__regular')}{display:none}.${c('price--on-sale')} .${c('price__sale')}{display:initial}.${c('visually-hidden')}{position:absolute!important;overflow:hidden;width:1px;height:1px;margin:-1px;padding:0;border:0;clip:rect(0 0 0 0);word-wrap:normal!important}</style>`,
      body: inOrder(
        shop,
        `<div class="${c('product__info-wrapper')}"${isEmpty ? ' aria-busy="true"' : ''}>${titleOf(shop)}
        <div class="${c('price')} ${offer.old === undefined ? '' : c('price--on-sale')} ${c('price--large')}"><div class="${c('price__container')}">
          <div class="${c('price__regular')}">${hidden(words.was)}<span class="${c('price-item')} ${c('price-item--regular')}"> ${price} </span></div>
          <div class="${c('price__sale')}">${hidden(words.was)}<span><s class="${c('price-item')} ${c('price-item--regular')}"> ${old} </s></span>${hidden(words.now)}<span class="${c('price-item')} ${c('price-item--sale')} ${c('price-item--last')}"> ${price} </span></div>
          ${isEmpty ? '' : unit}</div>${offer.inStock ? '' : `<span class="${c('badge')}">${words.outOfStock}</span>`}</div>
        <div class="${c('product__tax')}">${isEmpty ? '' : `${words.tax} <a href="/shipping">${words.shipping(locale.write(shop.other.shipping))}</a>`}</div>
        <button type="submit" name="${c('add')}"${offer.inStock && !isEmpty ? '' : ' disabled'}>${offer.inStock ? words.add : words.outOfStock}</button>${about(shop)}</div>`,
        isEmpty
          ? ''
          : otherProducts(
              shop,
              (other) => `<li><div class="${c('price')}"><span class="${c('price-item')}">${other}</span></div></li>`,
            ),
      ),
    };
  },
};

const magento: Theme = {
  name: 'Magento',
  values: {
    price: { selector: '.product-info-price .price-box', type: 'money' },
    stock: { selector: '#product-addtocart-button', type: 'count' },
  },
  tells: AND_STOCK,
  hasRange: true,
  draw: (shop) => {
    const { locale, offer, c, isEmpty } = shop;
    const { words } = locale;
    const one = (value: number, kind: string, label: string) =>
      `<span class="${c('price-container')}"><span class="${c('price-label')}">${isEmpty ? '' : label}</span> <span ${isEmpty ? '' : `data-price-amount="${value}"`} data-price-type="${kind}" class="${c('price-wrapper')}"><span class="${c('price')}">${isEmpty ? '&nbsp;' : locale.write(value)}</span></span></span>`;
    const prices =
      offer.to !== undefined
        ? `<p class="${c('price-from')}">${one(offer.price, 'minPrice', words.from)}</p><p class="${c('price-to')}">${one(offer.to, 'maxPrice', '–')}</p>`
        : offer.old === undefined
          ? one(offer.price, 'finalPrice', '')
          : inOrder(
              shop,
              `<span class="${c('old-price')}">${one(offer.old, 'oldPrice', '')}</span>`,
              `<span class="${c('special-price')}">${one(offer.price, 'finalPrice', words.now)}</span>`,
            );
    return {
      head: `<style>.${c('old-price')}{text-decoration:line-through;font-size:12px}</style>`,
      body: inOrder(
        shop,
        `<div class="${c('product-info-main')}">${titleOf(shop)}<div class="${c('product-info-price')}"><div class="${c('price-box')} ${c('price-final_price')}">${prices}</div>
        <div class="${c('product-info-stock-sku')}"><div class="${c('stock')}"><span>${isEmpty ? '' : offer.inStock ? words.inStock : words.outOfStock}</span></div>SKU 4711</div></div>
        ${offer.inStock && !isEmpty ? `<button id="${c('product-addtocart-button')}"><span>${words.add}</span></button>` : ''}</div>`,
        about(shop),
      ),
    };
  },
};

const amazon: Theme = {
  name: 'split price',
  values: {
    price: { selector: '#corePriceDisplay_desktop_feature_div', type: 'money' },
    stock: { selector: '#add-to-cart-button', type: 'count' },
  },
  tells: AND_STOCK,
  hasRange: true,
  draw: (shop) => {
    const { locale, offer, c, isEmpty } = shop;
    const { words, sign } = locale;
    const price = (value: number) => {
      const { whole, cents, decimal } = split(locale, value);
      const symbol = `<span class="${c('a-price-symbol')}">${sign.text}</span>`;
      const number = `<span class="${c('a-price-whole')}">${whole}<span class="${c('a-price-decimal')}">${decimal}</span></span>${cents === undefined ? '' : `<span class="${c('a-price-fraction')}">${cents}</span>`}`;
      return `<span class="${c('a-price')} ${c('priceToPay')}"><span class="${c('a-offscreen')}">${shop.isReordered ? ' ' : locale.write(value)}</span><span aria-hidden="true">${sign.isLast ? number + symbol : symbol + number}</span></span>`;
    };
    const saving =
      offer.old === undefined
        ? ''
        : `<span class="${c('savingsPercentage')}">-${Math.round((1 - offer.price / offer.old) * 100)}&nbsp;%</span> `;
    const basis =
      offer.old === undefined
        ? ''
        : `<span class="${c('basisPrice')}">${words.was}: <span class="${c('a-price')} ${c('a-text-price')}" data-a-strike="true"><span class="${c('a-offscreen')}">${locale.write(offer.old)}</span><span aria-hidden="true">${locale.write(offer.old)}</span></span></span>`;
    const shown =
      offer.to === undefined
        ? `${saving}${price(offer.price)}${basis}`
        : `<span class="${c('a-price-range')}">${price(offer.price)}<span class="${c('a-price-dash')}"> - </span>${price(offer.to)}</span>`;
    // Without stock the price is gone, too.
    const core = isEmpty
      ? box(90)
      : offer.inStock
        ? `${shown}<div>${words.instalments(locale.write(shop.other.instalment))}</div>`
        : '';
    return {
      head: `<style>.${c('a-price')}>span[aria-hidden]{position:relative}.${c('a-offscreen')}{position:absolute!important;left:-10000px;width:1px;height:1px;overflow:hidden}.${c('a-price-whole')}{font-size:28px}.${c('a-price-decimal')}{display:none}.${c('a-price-fraction')},.${c('a-price-symbol')}{font-size:13px;position:relative;top:-.75em}.${c('a-text-price')}>span[aria-hidden]{text-decoration:line-through}</style>`,
      body: inOrder(
        shop,
        `<div id="${c('centerCol')}">${titleOf(shop)}<div id="${c('corePriceDisplay_desktop_feature_div')}">${core}</div>${about(shop)}</div>`,
        `<div id="${c('availability')}"><span>${isEmpty ? '' : offer.inStock ? words.inStock : words.outOfStock}</span></div>${offer.inStock && !isEmpty ? `<input id="${c('add-to-cart-button')}" type="submit" value="${words.add}">` : ''}`,
      ),
    };
  },
};

const instalments: Theme = {
  name: 'instalments first',
  values: { price: { selector: '#price', type: 'money' } },
  tells: PRICE,
  draw: (shop) => {
    const { locale, offer, c, isEmpty } = shop;
    const { words, sign } = locale;
    const amount = (value: number, tag = 'span') => {
      const { whole, cents } = split(locale, value);
      const symbol = `<span class="${c('andes-money-amount__currency-symbol')}">${sign.text}</span>`;
      const number = `<span class="${c('andes-money-amount__fraction')}">${whole}</span>${cents === undefined ? '' : `<span class="${c('andes-money-amount__cents')}" style="font-size:.5em;vertical-align:super">${cents}</span>`}`;
      return `<${tag} class="${c('andes-money-amount')}" role="img" aria-label="${whole}">${sign.isLast ? `${number}&nbsp;${symbol}` : `${symbol}${number}`}</${tag}>`;
    };
    const old = offer.old === undefined ? '' : `<div>${amount(offer.old, 's')}</div>`;
    const price = `<div class="${c('ui-pdp-price__second-line')}" style="font-size:32px">${offer.to === undefined ? '' : `${words.from} `}${amount(offer.price)}${offer.old === undefined ? '' : ` <span style="color:green">27% OFF</span>`}</div>`;
    const rates = `<p class="${c('ui-pdp-price__subtitles')}">${words.instalments(locale.write(shop.other.instalment))}</p>`;
    return {
      body: inOrder(
        shop,
        `<section>${titleOf(shop)}${offer.inStock ? '' : `<p>${words.outOfStock}</p>`}<div id="${c('price')}">${isEmpty ? box(80) : shop.isReordered ? rates + old + price : old + price + rates}</div></section>`,
        about(shop),
      ),
    };
  },
};

const grocery: Theme = {
  name: 'groceries',
  values: {
    price: { selector: '.product-detail-buy', type: 'money' },
    stock: { selector: '.is-available', type: 'count' },
  },
  tells: AND_STOCK,
  draw: (shop) => {
    const { locale, offer, c, isEmpty } = shop;
    const { words } = locale;
    const unit = `<div class="${c('product-detail-price-unit')}"><span>500 g</span> <span>${words.perKilo(locale.write(shop.other.kilo))}</span></div>`;
    const old =
      offer.old === undefined
        ? ''
        : `<span class="${c('list-price-price')}" style="text-decoration-line:line-through">${locale.write(offer.old)}</span> <span>(${words.save} 12%)</span>`;
    const price = `<p class="${c('product-detail-price')}">${offer.to === undefined ? '' : `${words.from} `}${locale.write(offer.price)}* ${old}</p>`;
    return {
      body: inOrder(
        shop,
        `<div class="${c('product-detail-buy')}">${titleOf(shop)}${isEmpty ? box(70) : `${shop.isReordered ? unit + price : price + unit}<p>${words.tax} ${words.shipping(locale.write(shop.other.shipping))}</p>`}</div>`,
        `${offer.inStock && !isEmpty ? `<p class="${c('is-available')}">● ${words.inStock}</p>` : isEmpty ? '' : `<p class="${c('is-soldout')}">● ${words.outOfStock}</p>`}${about(shop)}`,
      ),
    };
  },
};

const fashion: Theme = {
  name: 'fashion, with the lowest price of 30 days',
  values: { price: { selector: '[data-testid=pdp-price-container]', type: 'money' } },
  tells: PRICE,
  draw: (shop) => {
    const { locale, offer, c, isEmpty } = shop;
    const { words } = locale;
    const saving =
      offer.old === undefined
        ? ''
        : `<p><span>${words.was}: </span><span style="text-decoration:line-through">${locale.write(offer.old)}</span><span>-29%</span></p><p>${words.lowest(locale.write(shop.other.lowest))}</p>`;
    const price = `<p><span>${offer.to === undefined ? '' : `${words.from} `}${locale.write(offer.price)}</span><span> ${words.tax}</span></p>`;
    const sizes = ['XS', 'S', 'M 38', 'L 40'].map((size) => `<option>${size}</option>`).join('');
    return {
      body: inOrder(
        shop,
        `<div>${titleOf(shop)}<div data-testid="${c('pdp-price-container')}">${isEmpty ? box(70) : shop.isReordered ? price + saving : saving + price}</div></div>`,
        `<select>${sizes}</select>${offer.inStock ? `<button>${words.add}</button>` : `<button disabled>${words.outOfStock}</button>`}${about(shop)}`,
      ),
    };
  },
};

const stays: Theme = {
  name: 'prices from, for a night',
  values: { price: { selector: '.rate', type: 'money' }, free: { selector: 'button.reserve', type: 'count' } },
  tells: { ...PRICE, 'out of stock': ['free'] },
  draw: (shop) => {
    const { locale, offer, c, isEmpty } = shop;
    const { words } = locale;
    const shown = `${words.from} <strong>${locale.write(offer.price)}</strong>`;
    return {
      body: inOrder(
        shop,
        `<article>${titleOf(shop)}<p>4,8 ★ (1&nbsp;204)</p><div class="${c('rate')}">${isEmpty ? '…' : offer.inStock ? shown : words.outOfStock}</div>${offer.inStock && !isEmpty ? `<button class="${c('reserve')}">${words.add}</button>` : ''}</article>`,
        about(shop),
      ),
    };
  },
};

const classified: Theme = {
  name: 'data elements',
  values: { price: { selector: '#viewad-price', type: 'money' } },
  tells: PRICE,
  draw: (shop) => {
    const { locale, offer, c, isEmpty } = shop;
    const data = (value: number) => `<data value="${value}">${locale.write(value)}</data>`;
    const shown =
      offer.old === undefined ? data(offer.price) : `<del>${data(offer.old)}</del> <ins>${data(offer.price)}</ins>`;
    return {
      body: inOrder(
        shop,
        `<div>${titleOf(shop)}<h2 id="${c('viewad-price')}">${isEmpty ? box(60) : offer.to === undefined ? shown : `${data(offer.price)} – ${data(offer.to)}`}</h2><p>12.03.2026 · 241 m</p>${offer.inStock ? '' : `<p>${locale.words.outOfStock}</p>`}</div>`,
        about(shop),
      ),
    };
  },
  hasRange: true,
};

export const PRODUCT_THEMES: readonly Theme[] = [
  wooCommerce,
  dawn,
  magento,
  amazon,
  instalments,
  grocery,
  fashion,
  stays,
  classified,
];
