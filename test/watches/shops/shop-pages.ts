import { DATA_THEMES } from './data-themes.ts';
import { LOCALES, type Locale, translated } from './locales.ts';
import { noContent } from './no-content.ts';
import { PRODUCT_THEMES } from './product-themes.ts';
import { nice, type Offer, type Shop, type State, type Theme } from './theme.ts';

export interface ShopPage {
  readonly name: string;
  readonly values: Theme['values'];
  /** Returns the page in a state, or as it usually is. */
  readonly html: (state?: State) => string;
  /** The values that a state changes, in the order of their rules. */
  readonly changed: (state: State) => readonly string[];
  /** The expected reading of `price`, if the page has it in this state. */
  readonly price: (state?: State) => { readonly amount: number; readonly to: number | null } | undefined;
}

const THEMES: readonly Theme[] = [...PRODUCT_THEMES, ...DATA_THEMES];
/** States in which each value can still be read. */
const READABLE: readonly (State | undefined)[] = [undefined, 'price change', 'price range', 'translated', 'reordered'];

/** Returns pages of all themes and locales: the first 20 have each locale, and the first 14 each theme. */
export const shopPages = (count: number): readonly ShopPage[] =>
  Array.from({ length: count }, (_, at) => {
    const [theme, locale] = [THEMES[at % THEMES.length], LOCALES[(at * 3 + Math.floor(at / 20)) % LOCALES.length]];
    if (theme === undefined || locale === undefined) throw new Error('there are no themes and locales');
    return shopPage(at, theme, locale);
  });

function shopPage(at: number, theme: Theme, locale: Locale): ShopPage {
  // Cheap and expensive things, with an old price or without.
  const usual = nice(([18.5, 59.9, 449, 1300][at % 4] ?? 1) * locale.unit, locale);
  const isReduced = at % 3 === 0;
  const offerIn = (state: State | undefined): Offer => {
    const isRange = state === 'price range';
    const price = state === 'price change' ? nice(usual * 0.8, locale) : isRange ? nice(usual * 0.7, locale) : usual;
    const isSale = isReduced ? !isRange : state === 'price change';
    return {
      price,
      inStock: state !== 'out of stock',
      open: { 'price change': 129, 'out of stock': 127, 'price range': 131 }[String(state)] ?? 128,
      ...(isRange && { to: nice(usual * 1.2, locale) }),
      ...(isSale && { old: nice(usual * 1.4, locale) }),
    };
  };
  const shopIn = (state: State | undefined): Shop => {
    const isEmpty = state === 'skeleton';
    return {
      locale: state === 'translated' ? translated(locale) : locale,
      offer: offerIn(state),
      other: {
        instalment: nice(usual / 4, locale),
        kilo: nice(usual * 2, locale),
        shipping: nice(4.9 * locale.unit, locale),
        lowest: nice(usual * 0.9, locale),
        next: nice(usual * 0.6, locale),
      },
      c: (name) => (state === 'redesign' ? renamed(name) : name),
      isReordered: state === 'reordered',
      isEmpty,
    };
  };
  return {
    name: `${at}: ${theme.name}, ${locale.lang}`,
    values: theme.values,
    changed: (state) => theme.tells[state] ?? [],
    price: (state) => {
      const { price, to } = offerIn(state);
      if (theme.values.price === undefined || !READABLE.includes(state)) return undefined;
      return { amount: price, to: (theme.hasRange ? to : undefined) ?? null };
    },
    html: (state) => noContent(state, at, locale) ?? whole(shopIn(state), theme),
  };
}

/** Returns the name that a build of a new front end gives to a class. */
const renamed = (name: string): string =>
  `_${[...name].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 1_679_616, 7).toString(36)}_x`;

function whole(shop: Shop, theme: Theme): string {
  const { head = '', body } = theme.draw(shop);
  const { locale, isEmpty } = shop;
  const link = (text: string) => `<a href="/${text.length}">${text}</a>`;
  return `<!doctype html><html lang="${locale.lang}"${locale.rightToLeft ? ' dir="rtl"' : ''}><head><meta charset="utf-8"><title>Harbour</title>${head}</head><body>
<header>${link('Harbour')} <nav>${['Lamps', 'Ropes', 'Maps'].map(link).join(' ')}</nav></header>
<main${isEmpty ? ' aria-busy="true"' : ''}>${body}</main>
<footer>${link('Contact')} ${link('Privacy')} © 2026 Harbour</footer></body></html>`;
}
