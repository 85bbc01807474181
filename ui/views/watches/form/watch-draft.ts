import type { Watch } from '../../../api/types.ts';
import { COMMON } from '../../../parts/common-options.tsx';

/** Comparisons that have a switch in the form. Elements by selector are kept as they are. */
export const COMPARED = ['visual', 'text', 'links', 'title', 'status', 'verdict'] as const;
export type Compared = (typeof COMPARED)[number];

/** A watch as the form shows it. */
export interface Draft {
  readonly url: string;
  readonly timing: 'every' | 'schedule';
  readonly every: string;
  readonly schedule: string;
  readonly timeZone: string;
  readonly compare: Readonly<Record<string, unknown>>;
  readonly ignore: readonly string[];
  readonly labels: string;
  readonly options: Readonly<Record<string, unknown>>;
}

export function newDraft(url: string, every: string): Draft {
  const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const times = { timing: 'every', every, schedule: '0 9 * * 1-5', timeZone } as const;
  return { url, ...times, compare: { visual: true }, ignore: [], labels: '', options: {} };
}

export function draftOf({ url, every, schedule, time_zone: timeZone, ...watch }: Watch): Draft {
  const usual = newDraft(url, every ?? '1h');
  return {
    ...usual,
    timing: schedule === null ? 'every' : 'schedule',
    schedule: schedule ?? usual.schedule,
    timeZone: timeZone ?? usual.timeZone,
    compare: watch.compare,
    ignore: watch.ignore,
    labels: watch.labels.join(', '),
    options: watch.options,
  };
}

/** Returns the body of a new watch. */
export function bodyOf({ url, timing, every, schedule, timeZone, compare, ignore, labels, options }: Draft): object {
  const when = timing === 'every' ? { every } : { schedule, timeZone };
  const listed = labels.split(',').map((label) => label.trim());
  return { ...options, url, ...when, compare, ignore, labels: listed.filter((label) => label !== '') };
}

/**
 * Returns the body of a change: what differs from the draft that was loaded, so that fields that were changed elsewhere
 * meanwhile keep their values. Null removes a field.
 */
export function changeOf(draft: Draft, loaded: Draft): object {
  const before = new Map(Object.entries(fieldsOf(loaded)));
  const differs = ([name, value]: [string, unknown]) => JSON.stringify(value) !== JSON.stringify(before.get(name));
  return Object.fromEntries(Object.entries(fieldsOf(draft)).filter(differs));
}

/** Returns all fields that the form shows. Options without a control in the form are not among them. */
function fieldsOf(draft: Draft): object {
  const { timing, options } = draft;
  const { url: _url, ...body } = { url: '', ...bodyOf({ ...draft, options: {} }) };
  const other = timing === 'every' ? { schedule: null, timeZone: null, jitter: null } : { every: null };
  return { ...body, ...other, ...Object.fromEntries(COMMON.map((name) => [name, options[name] ?? null])) };
}
