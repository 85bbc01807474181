import type { ReadValue, ReadValues } from '../capture/work/watch-values.ts';
import { numberOf } from './decide.ts';

const MAX_CHARACTERS = 60;

/** Says what became of values, in a sentence: `price fell from €59.00 to €47.50; stock is InStock`. */
export function sayValues(now: ReadValues, before: ReadValues): string {
  const changed = Object.keys(now).filter((name) => said(now[name]) !== said(before[name]));
  const names = changed.length === 0 ? Object.keys(now) : changed;
  return names.map((name) => `${name} ${sayChange(now[name], before[name])}`).join('; ');
}

function sayChange(now: ReadValue | undefined, before: ReadValue | undefined): string {
  if (now?.value == null) return (now?.text ?? '') === '' ? 'is missing' : `is ${said(now)}, which cannot be read`;
  if (before?.value == null || said(before) === said(now)) return `is ${said(now)}`;
  const [from, to] = [numberOf(before), numberOf(now)];
  const verb = from === undefined || to === undefined || from === to ? 'changed' : to > from ? 'rose' : 'fell';
  return `${verb} from ${said(before)} to ${said(now)}`;
}

/** A value as people write it; a text of the page in quotation marks. */
export function said(read: ReadValue | undefined): string {
  const value = read?.value ?? read?.text ?? null;
  if (value === null) return '';
  if (typeof value === 'string') {
    const line = value.replace(/\s+/g, ' ').replace(/[\u201c\u201d]/g, '"');
    return `\u201c${line.length > MAX_CHARACTERS ? `${line.slice(0, MAX_CHARACTERS - 1)}\u2026` : line}\u201d`;
  }
  if (typeof value === 'number') return String(value);
  const { amount, to, currency } = value;
  return [amount, ...(to === null ? [] : [to])].map((sum) => saidSum(sum, currency)).join('\u2013');
}

function saidSum(amount: number, currency: string | null): string {
  if (currency === null) return String(amount);
  return new Intl.NumberFormat('en', { style: 'currency', currency, currencyDisplay: 'narrowSymbol' }).format(amount);
}
