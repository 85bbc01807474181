import { createHash } from 'node:crypto';
import {
  type Condition,
  conditionsIn,
  LEVELS,
  operatorsOf,
  type ReadValue,
  type ReadValues,
  type WatchedValues,
  type When,
} from '../capture/work/watch-values.ts';

/** The values of a watch in its earlier runs, and the conditions on them. */
export interface KnownValues {
  /** The last value of each name that could be read. */
  readonly previous: ReadValues;
  /** Those of the run that was told last, or of the first one. */
  readonly baseline: ReadValues;
  /** The conditions that held, as JSON. */
  readonly held: readonly string[];
  /** Of the rules that the values were read by: others read something else. */
  readonly digest: string;
}

export const NO_VALUES: KnownValues = { previous: {}, baseline: {}, held: [], digest: '' };

/** Returns what is known of values that were read by these rules. */
export function knownBy(values: WatchedValues, known: KnownValues): KnownValues {
  const digest = createHash('sha256').update(JSON.stringify(values)).digest('hex').slice(0, 16);
  return known.digest === digest ? known : { ...NO_VALUES, digest };
}

interface Finding {
  readonly holds: boolean;
  /** Whether it holds now, and did not before. */
  readonly isNews: boolean;
}

interface Decision {
  readonly isNews: boolean;
  readonly held: readonly string[];
}

/**
 * Returns whether the values of a run are to be told. Without conditions, each changed value is. A value that cannot be
 * read, or that is in another currency than before, fulfils none.
 */
export function decide(values: WatchedValues, when: When | undefined, now: ReadValues, known: KnownValues): Decision {
  const wanted = when ?? { any: Object.keys(values).map(changedValue) };
  const conditions = conditionsIn(wanted);
  const findings = conditions.map((each) => findingOf(each, now, known, known.held.includes(JSON.stringify(each))));
  let at = 0;
  const combined = (part: When): Finding => {
    if ('all' in part) {
      const all = part.all.map(combined);
      const holds = all.every((each) => each.holds);
      return { holds, isNews: holds && all.some(({ isNews }) => isNews) };
    }
    if ('any' in part) {
      const any = part.any.map(combined);
      return { holds: any.some((each) => each.holds), isNews: any.some(({ isNews }) => isNews) };
    }
    const finding = findings[at] ?? { holds: false, isNews: false };
    at += 1;
    return finding;
  };
  const { isNews } = combined(wanted);
  const held = conditions.filter((_, index) => findings[index]?.holds).map((each) => JSON.stringify(each));
  return { isNews, held };
}

const changedValue = (value: string): Condition => ({ value, changed: true, since: 'baseline', hysteresis: 0 });

function findingOf(condition: Condition, now: ReadValues, known: KnownValues, held: boolean): Finding {
  const current = now[condition.value];
  const before = known[condition.since][condition.value];
  const [operator = 'missing'] = operatorsOf(condition);
  const isLevel = LEVELS.includes(operator);
  // The last value that could be read still counts.
  if (current === undefined || (!isComparable(current, known.previous[condition.value]) && operator !== 'missing'))
    return { holds: isLevel && held, isNews: false };
  const holds = isLevel ? isAt(condition, current, held) : hasMoved(condition, current, before);
  return { holds, isNews: holds && !(isLevel && held) };
}

/** Whether a value can be compared with the one before it: it was read, and is in the same currency. */
function isComparable(value: ReadValue | undefined, before: ReadValue | undefined): boolean {
  if (value === undefined || value.value === null) return false;
  const [currency, earlier] = [currencyOf(value), currencyOf(before)];
  return currency === null || earlier === null || currency === earlier;
}

function isAt(condition: Condition, current: ReadValue | undefined, held: boolean): boolean {
  const { below, above, equals, contains, missing, hysteresis } = condition;
  if (missing === true) return current?.value == null && (current?.text ?? '') === '';
  const number = numberOf(current);
  const margin = held ? hysteresis : 0;
  if (below !== undefined) return number !== undefined && number < below + margin;
  if (above !== undefined) return number !== undefined && number > above - margin;
  if (equals !== undefined) return plain(current) === equals;
  return contains !== undefined && String(plain(current)).includes(contains);
}

function hasMoved({ became, changed, rose, fell }: Condition, current?: ReadValue, before?: ReadValue): boolean {
  if (current === undefined || before === undefined || before.value === null) return false;
  if (became !== undefined) return plain(current) === became && plain(before) !== became;
  const [to, from] = [numberOf(current), numberOf(before)];
  if (changed === true) return isOther(current, before);
  if (to === undefined || from === undefined || to === from) return false;
  const size = Math.abs(to - from);
  if (changed !== undefined) return size >= least(changed, from);
  if (rose !== undefined) return to > from && size >= least(rose, from);
  return fell !== undefined && to < from && size >= least(fell, from);
}

function isOther(one: ReadValue, other: ReadValue): boolean {
  return JSON.stringify(one.value) !== JSON.stringify(other.value);
}

/** Returns the difference that counts: a share is one of the number before. */
function least(wanted: true | number | string, from: number): number {
  if (wanted === true) return 0;
  return typeof wanted === 'number' ? wanted : (Math.abs(from) * Number.parseFloat(wanted)) / 100;
}

/** The number of a value; of a range of money its lower end. */
export function numberOf(value: ReadValue | undefined): number | undefined {
  const read = plain(value);
  return typeof read === 'number' ? read : undefined;
}

function plain(value: ReadValue | undefined): string | number | null {
  const read = value?.value ?? null;
  return typeof read === 'object' && read !== null ? read.amount : read;
}

function currencyOf(value: ReadValue | undefined): string | null {
  const read = value?.value;
  return typeof read === 'object' && read !== null ? read.currency : null;
}

/** Whether nothing was read before: conditions have nothing to compare with. */
export function isUnknown({ previous }: KnownValues): boolean {
  return Object.keys(previous).length === 0;
}

/** Returns what is known after a run. A value that was not read, or is in another currency, stays as it was. */
export function knownAfter(
  known: KnownValues,
  now: ReadValues,
  held: readonly string[],
  isBaseline: boolean,
): KnownValues {
  const readable = Object.entries(now).filter(([name, value]) => isComparable(value, known.previous[name]));
  const previous = { ...known.previous, ...Object.fromEntries(readable) };
  const added = Object.fromEntries(readable.filter(([name]) => !Object.hasOwn(known.baseline, name)));
  return { ...known, previous, baseline: isBaseline ? previous : { ...known.baseline, ...added }, held };
}
