/** Kinds of amounts, by the words beside them. Later ones in this list count less. */
export const RANKS = ['price', 'usual', 'rate', 'other'] as const;
type Rank = (typeof RANKS)[number];

/** Before an amount that is paid several times, such as `12x` or `3 instalments of`. */
const TIMES_BEFORE = endOf(
  String.raw`\d\s*[x×✕](?:\s*(?:de|d[’']|à|a|of|at|von|zu|je|da|di|av|po|по|sem|juros|sans|frais|sin|s/|inter[eé]s\p{L}*|zinsfrei|ohne|zinsen|gebühren|senza|bez|odsetek))*`,
  String.raw`\d\s*(?:fois|mal|veces|volte|\p{L}*raten|rates|rater|rat|mensualit\p{L}*|cuotas|parcelas|plazos|payments|(?:[\p{L}-]+ )?payments|instal+ments|termijnen|taksit|meses|delbetalning\p{L}*|platnoś\p{L}*|splát\p{L}*|דמי|תשלומים|دفعات|أقساط|قسط)[^\d\p{Sc}.:,;]{0,25}`,
  'raten(?:zahlung)? (?:ab|von)',
  '(?:no cost )?emi(?:(?: starts?)? (?:at|from))?',
  'ईएमआई',
  '月々',
  '月額',
  String.raw`(?<!\p{L})월`,
);
const TIMES_AFTER = /^\s*[x×✕]\s*\d/iu;
/** Before and after an amount for a time or a measure, such as `/ kg`. */
const RATE_BEFORE = endOf(
  String.raw`\d*\s?(?:kg|g|ml|l|cl|個|枚|本)\s?(?:あたり|当たり|当り|당)`,
  '(?:unit price|price per unit|grundpreis|prix au (?:kilo|litre)|jmf-?pris|precio por (?:kilo|litro)|هر کیلوگرم)',
);
const RATE_AFTER =
  /^\*?\s*(?:mtl\b|monatl|monthly\b|mensuel|mensual|mensil|maandelijks|(?:\/|per\b|pro\b|par\b|je\b|por\b|al\b|a\s|an\s|på\b|w\s|za\b|प्रति\s|ל(?=ק))\s*(?:\d+\s*)?(?:m[eé]s|mo\b|mnd|mois|mon\p{L}*|mese|month\p{L}*|måned|mån\p{L}*|мес\p{L}*|माह|महीन|jahr|year|yr|año|an\b|ann[eé]e|anno|week|woche|tag|day|kg|g\b|l\b|ml|m[²2]?\b|oz|lb|liter|litre|кг|किग्रा|كجم|ק|stück|st\b|unit\p{L}*|pcs|100))/iu;
/** Before an amount that was asked earlier, is saved, or is added. */
const OTHER_BEFORE = endOf(
  String.raw`\b(?:was|instead of|rrp|msrp|m\.?r\.?p\.?|(?:list|original|retail|old) price|originally|compare at(?: price)?|save|you save|saving|from previous|shipping|delivery)`,
  String.raw`statt|uvp|bisher|(?:bisherig\p{L}*|alter|früherer) preis|originalpreis|listenpreis|vorher|zuvor|sie sparen|du sparst|spare|ersparnis|versand(?:kosten)?`,
  'au lieu de|avant|ancien prix|prix (?:conseillé|initial|barré|public|d.origine)|économisez|livraison|frais de port',
  String.raw`antes|ahorra\p{L}*|envío|pvp|precio (?:anterior|original|recomendado|de lista)`,
  String.raw`invece di|prima|prezzo (?:di listino|originale|consigliato|precedente)|risparmi\p{L}*|spedizione`,
  'de r\\$|economize|frete|preço (?:original|anterior|de tabela)',
  'was|van|(?:oude|oorspronkelijke) prijs|bespaar|je bespaart|adviesprijs|verzendkosten',
  String.raw`förut|spar|spara|før|førpris|vejl\. pris|tidigare pris|frakt`,
  'zamiast|oszczędzasz|cena (?:pierwotna|katalogowa)|stara cena|dostawa',
  '(?:původní|doporučená) cena|ušetříte|doprava',
  'вместо|было|скидка|старая цена|экономия|доставка',
  'eski fiyat|kazancınız|kargo',
  '希望小売価格|定価|参考価格|送料|原价|市场价|배송비',
  'السعر السابق|وف[ّ]?ر|الشحن|מחיר קודם|חסכון|משלוח|قیمت قبلی|تخفیف|هزینه ارسال|एम\\.आर\\.पी\\.?|बचत|डिलीवरी शुल्क',
);
/** Words before a usual price: the earlier price if there is another one, else the price. */
const USUAL_BEFORE = endOf(
  '(?:regular|usual|normal|full)(?: price)?',
  'normalpreis|regulärer preis|prix (?:habituel|normal)|precio (?:habitual|normal)|preço normal|prezzo normale|normale prijs',
  String.raw`ord(?:inarie)?\.?(?: pris)?|normalpris|cena regularna|běžná cena|обычная цена|normal fiyat`,
  '通常価格|정가|정상가',
);
/** Before the lowest price of the last 30 days, which shops in the European Union have to tell with a reduced one. */
const LOWEST_BEFORE = endOf(
  String.raw`(?:lowest|bestpreis|niedrigst\p{L}*|tiefst\p{L}*|más bajo|plus bas|menor preço|più basso|laagste|lägsta|laveste|najniższ\p{L}*|nejnižší|минимальн\p{L}*|en düşük|最安値|最低価格|최저가|أقل سعر|הנמוך|सबसे कम|کمترین)[^\p{Sc}\d]{0,30}(?:30)?[^\p{Sc}\d]{0,25}`,
);
const ADDED = /(?:(?<![\d万만k])\+|plus|zzgl\.?|více)\s*$/iu;

/** Before two numbers that are a range in spite of an `and` between them. */
export const BETWEEN_BEFORE = endOf('between|zwischen|entre|tra|fra|tussen|mellan|mellem|mellom|между');
/** Before the first number of a range, whatever the second one is. */
export const FROM_BEFORE = endOf('from|von|ab|desde|da|dal|van|vanaf|från|od|от');
/** Before a number that is a size, an average of ratings or a number of pieces. */
export const NAMING_BEFORE = endOf(
  'size|größe|gr\\.|taille|pointure|talla|taglia|misura|tamanho|maat|storlek|størrelse|str\\.|rozmiar|velikost|размер|beden',
  'サイズ|사이즈|尺码|מידה|مقاس|سایز|साइज़',
  'rated|rating|bewertung|note|(?:pack|lot)(?: (?:of|de|von))?',
);

/** Matches any of these at the end of a text, before a colon or an Indian `:-`. None is the end of a longer word. */
function endOf(...patterns: readonly string[]): RegExp {
  const wordStart = '(?<![\\p{Script=Latin}\\p{Script=Cyrillic}])';
  return new RegExp(`${wordStart}(?:${patterns.join('|')})\\s*(?::+-?)?\\s*$`, 'iu');
}

/** An amount in a text. */
interface Amount {
  readonly start: number;
  readonly end: number;
  readonly isNegative: boolean;
}

/** Returns the rank of an amount. `from`: where the amount before it ends. */
export function rankOf(text: string, { start, end, isNegative }: Amount, from: number): Rank {
  const [before, after] = [text.slice(Math.max(from, start - 60), start), text.slice(end, end + 20)];
  if (isNegative || ADDED.test(before) || OTHER_BEFORE.test(before) || LOWEST_BEFORE.test(before)) return 'other';
  if (TIMES_BEFORE.test(before) || TIMES_AFTER.test(after)) return 'other';
  if (USUAL_BEFORE.test(before)) return 'usual';
  return RATE_AFTER.test(after) || RATE_BEFORE.test(before) ? 'rate' : 'price';
}
