/**
 * A value that was read, for people: formatted, with the text that it was read from. Both are empty when it is missing.
 */
interface ShownValue {
  readonly value: string;
  readonly text: string;
  /** Undefined for texts and dates, and for what could not be read. Of a range of money, its lower end. */
  readonly number?: number | undefined;
}

const numbers = new Intl.NumberFormat('en', { maximumFractionDigits: 6 });

/** Shows what `extract` reads, and what a run of a watch keeps of it. */
export function shownValue(read: unknown): ShownValue {
  if (!isObject(read)) return { ...plain(read), text: typeof read === 'string' ? read : '' };
  if (!('value' in read)) return { ...money(read), text: '' };
  const text = typeof read.text === 'string' ? read.text : '';
  return { ...(isObject(read.value) ? money(read.value) : plain(read.value)), text };
}

function plain(value: unknown): Omit<ShownValue, 'text'> {
  if (typeof value === 'number') return { value: numbers.format(value), number: value };
  return { value: typeof value === 'string' ? value : '' };
}

function money({ amount, to, currency }: Readonly<Record<string, unknown>>): Omit<ShownValue, 'text'> {
  if (typeof amount !== 'number') return { value: '' };
  const code = typeof currency === 'string' ? currency : null;
  const ends = typeof to === 'number' ? [amount, to] : [amount];
  return { value: ends.map((end) => sum(end, code)).join('–'), number: amount };
}

function sum(amount: number, currency: string | null): string {
  if (currency === null) return numbers.format(amount);
  try {
    return amount.toLocaleString('en', { style: 'currency', currency, currencyDisplay: 'narrowSymbol' });
  } catch {
    return `${numbers.format(amount)} ${currency}`;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
