/** Swedish for `,-`. After a word, it is an Indian colon: `Price:- 500`. */
const KRONOR = ':-';

/** Signs of currencies by their ISO 4217 codes. Those that several countries use are in `SHARED`. */
const SIGNS: Readonly<Record<string, readonly string[]>> = {
  USD: ['US$', 'U$S', 'USD$', 'usd'],
  CAD: ['CA$', 'C$', 'CAD$'],
  AUD: ['AU$', 'A$'],
  NZD: ['NZ$'],
  HKD: ['HK$'],
  TWD: ['NT$'],
  SGD: ['S$', 'SG$'],
  MXN: ['MX$', 'Mex$'],
  BRL: ['R$'],
  EUR: ['€', 'Euro', 'Euros', 'euro', 'euros', 'EURO', 'Eur', 'eur'],
  SEK: [KRONOR],
  GBP: ['£'],
  CHF: ['Fr.', 'SFr.'],
  PLN: ['zł'],
  CZK: ['Kč'],
  HUF: ['Ft'],
  RON: ['lei', 'Lei'],
  BGN: ['лв.', 'лв'],
  RUB: ['₽', 'руб.', 'руб', 'р.'],
  UAH: ['₴', 'грн.', 'грн'],
  TRY: ['₺', 'TL'],
  ILS: ['₪'],
  INR: ['₹'],
  BDT: ['৳'],
  LKR: ['රු.', 'රු'],
  KZT: ['₸'],
  GEL: ['₾'],
  AMD: ['֏'],
  MNT: ['₮'],
  GHS: ['GH₵', '₵'],
  KES: ['KSh', 'Ksh'],
  PEN: ['S/.'],
  UZS: ['so‘m', "so'm", 'сум'],
  KRW: ['₩', '원'],
  JPY: ['円'],
  CNY: ['元', 'RMB', 'CN¥'],
  VND: ['₫', 'đ'],
  THB: ['฿', 'บาท'],
  IDR: ['Rp.', 'Rp'],
  MYR: ['RM'],
  PHP: ['₱'],
  NGN: ['₦'],
  AED: ['د.إ.', 'د.إ', 'Dhs.', 'Dhs'],
  SAR: ['ر.س.', 'ر.س'],
  EGP: ['ج.م.', 'ج.م'],
  QAR: ['ر.ق.', 'ر.ق'],
  KWD: ['د.ك.', 'د.ك'],
  MAD: ['د.م.', 'د.م'],
  IRR: ['ریال', 'ريال'],
  // Ten rials. ISO 4217 has no code for it.
  IRT: ['تومان', 'Toman', 'Tomans'],
};

/** The usual currency of a sign, and those of languages. */
type Shared = readonly [usual: string | undefined, ofLanguages: Readonly<Record<string, string>>];

/** Signs of several currencies: that of the page's language, or else the first one. */
const SHARED: Readonly<Record<string, Shared>> = {
  $: [
    'USD',
    {
      'en-CA': 'CAD',
      'fr-CA': 'CAD',
      'en-AU': 'AUD',
      'en-NZ': 'NZD',
      'en-SG': 'SGD',
      'en-HK': 'HKD',
      'zh-HK': 'HKD',
      'zh-TW': 'TWD',
      'es-MX': 'MXN',
      'es-AR': 'ARS',
      'es-CL': 'CLP',
      'es-CO': 'COP',
      'pt-BR': 'BRL',
    },
  ],
  ...spelled(['kr', 'Kr', 'KR'], ['SEK', { nb: 'NOK', nn: 'NOK', no: 'NOK', da: 'DKK', is: 'ISK', fo: 'DKK' }]),
  ...spelled(['kr.', 'Kr.'], ['DKK', { sv: 'SEK', nb: 'NOK', nn: 'NOK', no: 'NOK', is: 'ISK' }]),
  ...spelled(
    ['Rs', 'Rs.'],
    ['INR', { 'en-PK': 'PKR', ur: 'PKR', 'en-LK': 'LKR', si: 'LKR', 'en-NP': 'NPR', ne: 'NPR', 'en-MU': 'MUR' }],
  ),
  '¥': ['JPY', { zh: 'CNY' }],
  // Elsewhere also two sizes: `S/36`.
  'S/': [undefined, { es: 'PEN', qu: 'PEN', ay: 'PEN' }],
  R: [undefined, { 'en-ZA': 'ZAR', af: 'ZAR', zu: 'ZAR', xh: 'ZAR' }],
};

function spelled(signs: readonly string[], shared: Shared): Readonly<Record<string, Shared>> {
  return Object.fromEntries(signs.map((sign) => [sign, shared]));
}

/** Amounts with three decimals are usual in these alone. */
const OF_THREE_DECIMALS = new Set(['BHD', 'IQD', 'JOD', 'KWD', 'LYD', 'OMR', 'TND']);

const CODES = new Set(Intl.supportedValuesOf('currency'));
const CODE_OF: ReadonlyMap<string, string> = new Map(
  Object.entries(SIGNS).flatMap(([code, signs]) => signs.map((sign) => [sign.normalize('NFKC'), code] as const)),
);
const ALL = [...CODE_OF.keys(), ...Object.keys(SHARED)].sort((one, other) => other.length - one.length);

/** A currency's sign or code. When it begins or ends with a letter, there is no other letter beside that one. */
export const CURRENCY = [
  ...ALL.map((sign) => {
    const [start, end] = [
      sign === KRONOR ? '(?<=\\d)' : /^\p{L}/u.test(sign) ? '(?<!(?![万만])\\p{L})' : '',
      /\p{L}$/u.test(sign) ? '(?!\\p{L})' : '',
    ];
    return `${start}${RegExp.escape(sign)}${end}`;
  }),
  '(?<!\\p{L})[A-Z]{3}(?!\\p{L})',
].join('|');

/** Returns the ISO 4217 code of a sign or code on a page in a language; undefined when it is none. */
export function currencyOf(mark: string, language: string): string | undefined {
  const shared = SHARED[mark];
  if (shared !== undefined) {
    const [usual, ofLanguages] = shared;
    const { language: spoken, region } = localeOf(language);
    return ofLanguages[`${spoken}-${region}`] ?? ofLanguages[spoken] ?? usual;
  }
  return CODE_OF.get(mark) ?? (CODES.has(mark) ? mark : undefined);
}

export function hasThreeDecimals(currency: string | null): boolean {
  return currency !== null && OF_THREE_DECIMALS.has(currency);
}

function localeOf(tag: string): { readonly language: string; readonly region: string } {
  try {
    const { language, region = '' } = new Intl.Locale(tag);
    return { language, region };
  } catch {
    return { language: '', region: '' };
  }
}
