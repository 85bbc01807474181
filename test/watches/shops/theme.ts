import type { CaptureOptions } from '../../../src/capture/request.ts';
import { grouped, type Locale, withDigits } from './locales.ts';

export const STATES = [
  'price change',
  'out of stock',
  'price range',
  'cookie wall',
  'bot wall',
  'error page',
  'skeleton',
  'redesign',
  'translated',
  'reordered',
] as const;
export type State = (typeof STATES)[number];

export interface Offer {
  readonly price: number;
  /** The upper end of a range. */
  readonly to?: number;
  readonly old?: number;
  readonly inStock: boolean;
  /** Open jobs of a list of jobs. */
  readonly open: number;
}

/** The shop that a theme draws. */
export interface Shop {
  readonly locale: Locale;
  readonly offer: Offer;
  /** Prices of other things: an instalment, a kilogram, shipping, the lowest one of 30 days, other products. */
  readonly other: Readonly<Record<'instalment' | 'kilo' | 'shipping' | 'lowest' | 'next', number>>;
  /** The name of a class or an id: another one after a redesign. */
  readonly c: (name: string) => string;
  readonly isReordered: boolean;
  /** Scripts have not filled in the data yet. */
  readonly isEmpty: boolean;
}

export interface Theme {
  readonly name: string;
  readonly values: NonNullable<CaptureOptions['extract']>;
  readonly draw: (shop: Shop) => { readonly head?: string; readonly body: string };
  /** Names of the values that are told of in a state, if it is a change. */
  readonly tells: Partial<Record<State, readonly string[]>>;
  /** Whether the value `price` has the upper end of a range, and a currency. */
  readonly hasRange?: boolean;
}

/** The parts of a price as a shop splits it: `$`, `1,299` and `99`. */
export function split({ separators, digits, decimals, lang }: Locale, amount: number) {
  const [whole, cents] = [Math.floor(amount + 0.001), Math.round(amount * 100) % 100];
  return {
    whole: withDigits(grouped(whole, separators.group, lang.endsWith('-IN')), digits),
    cents: decimals === 0 ? undefined : withDigits(String(cents).padStart(2, '0'), digits),
    decimal: separators.decimal,
  };
}

/** Something of which a page that has no data yet shows a grey box. */
export const box = (width: number): string =>
  `<span style="display:inline-block;width:${width}px;height:1em;background:#e5e7eb;border-radius:4px"></span>`;

/** Puts the parts of a page in another order when the shop is reordered. */
export const inOrder = ({ isReordered }: Shop, ...parts: readonly string[]): string =>
  (isReordered ? [...parts].reverse() : parts).join('\n');

/** The other products below or above the product itself, each with a price. */
export function otherProducts({ locale, other, c }: Shop, ofOne: (price: string, at: number) => string): string {
  const each = [1, 1.4, 0.7].map((share, at) => ofOne(locale.write(nice(other.next * share, locale)), at));
  return `<aside class="${c('related')}"><ul>${each.join('')}</ul></aside>`;
}

/** An amount as shops like it: with `.99`, or a round one without cents. */
export function nice(amount: number, { decimals }: Pick<Locale, 'decimals'>): number {
  if (decimals === 2) return Math.max(1, Math.floor(amount)) - 0.01;
  return Math.max(10, Math.round(amount / 10) * 10);
}
