import type { Watch } from '../../../api/types.ts';
import { COMMON } from '../../../parts/common-options.tsx';
import { TIME_ZONE } from '../../../parts/format.ts';
import {
  type ConditionsDraft,
  conditionsDraftOf,
  NO_CONDITIONS,
  type ValueDraft,
  valueDraftsOf,
  valuesOf,
  whenOf,
} from './value-drafts.ts';

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
  readonly values: readonly ValueDraft[];
  /** When the values are told. */
  readonly conditions: ConditionsDraft;
  /** Names of the receivers that are told. */
  readonly notify: readonly string[];
  readonly ignore: readonly string[];
  readonly labels: string;
  readonly options: Readonly<Record<string, unknown>>;
}

export function newDraft(url: string, every: string): Draft {
  const times = { timing: 'every', every, schedule: '0 9 * * 1-5', timeZone: TIME_ZONE } as const;
  const nothing = { values: [], conditions: NO_CONDITIONS, notify: [], ignore: [], labels: '', options: {} } as const;
  return { url, ...times, compare: { visual: true }, ...nothing };
}

export function draftOf({ url, every, schedule, time_zone: timeZone, ...watch }: Watch): Draft {
  const usual = newDraft(url, every ?? '1h');
  return {
    ...usual,
    timing: schedule === null ? 'every' : 'schedule',
    schedule: schedule ?? usual.schedule,
    timeZone: timeZone ?? usual.timeZone,
    compare: watch.compare,
    values: valueDraftsOf(watch.values),
    conditions: conditionsDraftOf(watch.when),
    notify: watch.notify,
    ignore: watch.ignore,
    labels: watch.labels.join(', '),
    options: watch.options,
  };
}

/**
 * Returns the draft with its first value: a new watch of a value does not compare the screenshot, unless it is asked to.
 */
export function withValues(draft: Draft, values: readonly ValueDraft[], isNew: boolean): Draft {
  const isFirst = isNew && draft.values.length === 0 && values.length > 0;
  const { conditions, written } = draft.conditions;
  // A renamed value keeps its conditions, and those of a removed one go.
  const renamed = (name: string) =>
    values.length === draft.values.length ? values[draft.values.findIndex((old) => old.name === name)]?.name : name;
  const known = conditions.flatMap((each) => {
    const name = renamed(each.value);
    return values.some((value) => value.name === name) && name !== undefined ? [{ ...each, value: name }] : [];
  });
  return {
    ...draft,
    values,
    ...(isFirst && { compare: {} }),
    conditions: {
      ...draft.conditions,
      conditions: known,
      ...(values.length === 0 && written !== undefined && NO_CONDITIONS),
    },
  };
}

/** Returns the body of a new watch. Without a comparison, its values alone are told. */
export function bodyOf(draft: Draft): object {
  const { url, timing, every, schedule, timeZone, compare, notify, ignore, labels, options } = draft;
  const times = timing === 'every' ? { every } : { schedule, timeZone };
  const listed = labels.split(',').map((label) => label.trim());
  const values = valuesOf(draft.values);
  const when = whenOf(draft.conditions, draft.values);
  const comparesNothing = values !== undefined && Object.values(compare).every((each) => each === false);
  return {
    ...options,
    url,
    ...times,
    ...(!comparesNothing && { compare }),
    ...(values !== undefined && { values }),
    ...(values !== undefined && when !== undefined && { when }),
    ...(notify.length > 0 && { notify }),
    ignore,
    labels: listed.filter((label) => label !== ''),
  };
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
  return {
    compare: null,
    values: null,
    when: null,
    notify: null,
    ...body,
    ...other,
    ...Object.fromEntries(COMMON.map((name) => [name, options[name] ?? null])),
  };
}
