import { z } from 'zod';
import { label } from '../capture/finding/marks.ts';

/* `--retain-days 30,label:legal=3650`: the age of captures, and another one for those with a label. */

const MIN_DAYS = 0.01;
const MAX_DAYS = 36_500;
export const RETAIN_DAYS_TAKES = `a number from ${MIN_DAYS} to ${MAX_DAYS} (days), and label:<label>=<days> for each label, separated by commas`;
const OF_LABEL = /^label:(.+)=([^=]*)$/;

/** Maximum ages in days. */
interface RetainDays {
  /** Of captures without one of the labels; null: unlimited. */
  readonly days: number | null;
  readonly ofLabels: ReadonlyMap<string, number>;
}

/** Reads elements of the option, which its schema has checked. */
export function readRetainDays(elements: readonly string[]): RetainDays {
  const [others, ofLabels] = [
    elements.filter((one) => !OF_LABEL.test(one)),
    elements.filter((one) => OF_LABEL.test(one)),
  ];
  const pairs = ofLabels.map((one) => {
    const [, name = '', days] = OF_LABEL.exec(one) ?? [];
    return [label.parse(name), Number(days)] as const;
  });
  return { days: others[0] === undefined ? null : Number(others[0]), ofLabels: new Map(pairs) };
}

/** A number alone stands for a list of one. */
export const retainDays = z.preprocess(
  (given) => (given === null ? [] : Array.isArray(given) ? given.map(textOf) : [textOf(given)]),
  z.array(z.string()).superRefine((elements, context) => {
    const problem = problemOf(elements);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
  }),
);

function textOf(element: unknown): unknown {
  return typeof element === 'number' ? String(element) : element;
}

function problemOf(elements: readonly string[]): string | undefined {
  const takes = `it takes ${RETAIN_DAYS_TAKES}`;
  const names = elements.map((one) => OF_LABEL.exec(one)?.[1]?.trim() ?? '');
  for (const [at, one] of elements.entries()) {
    const [, name, days = one] = OF_LABEL.exec(one) ?? [];
    const isNumber = /^\d+(\.\d+)?$/.test(days) && Number(days) >= MIN_DAYS && Number(days) <= MAX_DAYS;
    if (!isNumber || (name !== undefined && !label.safeParse(name).success)) return takes;
    if (names.indexOf(names[at] ?? '') === at) continue;
    return `${name === undefined ? 'there are two numbers without a label' : `the label ${name} occurs twice`}; ${takes}`;
  }
  return undefined;
}
