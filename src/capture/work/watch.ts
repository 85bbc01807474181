import { Cron } from 'croner';
import { z } from 'zod';
import type { Immutable } from '../basics/immutable.ts';
import { duration, isTimeZone, SECOND_MS, UNITS_MS } from '../basics/time-fields.ts';
import { count, id, instant } from '../basics/values.ts';
import { IGNORE_DESCRIPTION, type Ignore, ignoreField, RegionSchema } from '../comparison/comparison.ts';
import { MAX_LIST_CHARACTERS, problemsOfSelectors } from '../comparison/element-selector.ts';
import { FailureCodeSchema } from '../failure-code.ts';
import { labelList, MAX_LABELS } from '../finding/marks.ts';
import { apiKeyName } from '../named-key.ts';
import { flag, integer, objectOf } from '../options/fields.ts';
import { VERDICTS } from '../result/verdict.ts';
import { STORED_LIMITS } from '../stored-limits.ts';
import { ReadValueSchema, valuesField, whenField } from './watch-values.ts';

/*
 * A watch captures a page again and again, and tells when it changed. Its body is that of `POST /screenshot` with the
 * fields below.
 */

/** Bounds of `every` and `jitter`, in milliseconds. */
const MIN_EVERY_MS = 10 * SECOND_MS;
const MAX_EVERY_MS = 366 * UNITS_MS.d;
const MAX_JITTER_MS = UNITS_MS.d;

/** Maximum number of captures that `accept` names: a change is compared with each of them. */
const MAX_ACCEPTED = 10;
/** Longer than any pattern needs to be: one that lists all minutes, hours and days has 350. */
const MAX_SCHEDULE_CHARACTERS = 500;
const MAX_ZONE_CHARACTERS = 100;
/** Maximum number of regions that a run keeps; `GET /compare` lists more. */
export const MAX_REGIONS_OF_RUN = 20;

/** Share of changed pixels above which an image has changed: half a line of text on a window of 1280 by 720. */
const DEFAULT_THRESHOLD = 0.001;

/** Aspects of a page that can be compared. */
export const COMPARED = ['visual', 'text', 'links', 'elements', 'status', 'title', 'verdict'] as const;
export type Compared = (typeof COMPARED)[number];
/** Aspects that a run can have found changed. */
const CHANGED = [...COMPARED, 'values'] as const;

const threshold = z
  .number({ error: 'must be a number from 0 to 1' })
  .min(0, { error: 'must be 0 or more' })
  .max(1, { error: 'must be 1 or less' });

/** Maximum number of selectors of `compare.elements`. */
const MAX_WATCHED_ELEMENTS = 50;
const ELEMENTS = { error: 'must be a list of CSS selectors such as [".price"]' };

const compare = objectOf(
  {
    visual: z
      .union([flag, objectOf({ threshold }, 'visual', 'true, false or an object with a threshold')], {
        error: 'must be true, false or {"threshold": 0.001}',
      })
      .default(false)
      .transform((wanted) => (wanted === true ? { threshold: DEFAULT_THRESHOLD } : wanted))
      .meta({
        description: `The image. \`threshold\`: the share of changed pixels, after alignment, above which it has changed; by default ${DEFAULT_THRESHOLD}.`,
      }),
    text: flag.default(false).meta({ description: 'The painted text, by lines. Adds `text` to `outputs`.' }),
    links: flag.default(false).meta({ description: 'The painted links. Adds `links` to `outputs`.' }),
    elements: z
      .union(
        [
          z.literal(false),
          z
            .array(z.string(ELEMENTS), ELEMENTS)
            .min(1, { error: 'must name at least one selector' })
            .max(MAX_WATCHED_ELEMENTS, { error: `must hold at most ${MAX_WATCHED_ELEMENTS} selectors` })
            .superRefine((selectors, context) => {
              for (const message of problemsOfSelectors(selectors)) context.addIssue({ code: 'custom', message });
            }),
        ],
        ELEMENTS,
      )
      .default(false)
      .meta({
        description: `Elements, by CSS selectors: their texts, styles and images, and whether they were inserted, removed or moved. Frames are entered by \`>>\`. At most ${MAX_WATCHED_ELEMENTS} selectors, with at most ${MAX_LIST_CHARACTERS} characters together.`,
      }),
    status: flag.default(false).meta({ description: 'The HTTP status.' }),
    title: flag.default(false).meta({ description: 'The title.' }),
    verdict: flag.default(false).meta({
      description: 'The verdict. Then, and with `status`, a page that is not `content` is compared and is no failure.',
    }),
  },
  'compare',
  `an object with ${COMPARED.join(', ')}`,
).refine((wanted) => Object.values(wanted).some((value) => value !== false), {
  error: `must choose at least one of ${COMPARED.join(', ')}`,
});

/** The fields of a watch besides those of its captures. */
export const watchFields = {
  every: duration(MIN_EVERY_MS, MAX_EVERY_MS, 'from 10s to 366d')
    .optional()
    .meta({
      description:
        'Interval of the runs, such as `30s`, `10m`, `6h` or `1d`. Watches are spread over their interval. Either this or `schedule`.',
      examples: ['10m'],
    }),
  schedule: z
    .string({ error: 'must be a cron pattern such as "0 9 * * 1-5"' })
    .max(MAX_SCHEDULE_CHARACTERS, { error: `must have at most ${MAX_SCHEDULE_CHARACTERS} characters`, abort: true })
    .superRefine((pattern, context) => {
      const problem = problemOfPattern(pattern);
      if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
    })
    .optional()
    .meta({
      description: 'Cron pattern of five fields: minute, hour, day, month, weekday.',
      examples: ['0 9 * * 1-5'],
    }),
  timeZone: z
    .string({ error: 'must be a time zone such as "Europe/Berlin"' })
    .max(MAX_ZONE_CHARACTERS, { error: `must have at most ${MAX_ZONE_CHARACTERS} characters`, abort: true })
    .refine(isTimeZone, { error: 'is not a time zone: use a name such as "Europe/Berlin"' })
    .optional()
    .meta({ description: 'IANA time zone of `schedule`. Default: `UTC`.' }),
  jitter: duration(0, MAX_JITTER_MS, 'from 0s to 1d').optional().meta({
    description:
      'The runs of a `schedule` are delayed by up to this much, always by the same time for one watch. Default: `30s`.',
  }),
  compare: compare
    .optional()
    .meta({ description: 'What is compared. Default: the image, or nothing but the values when there are `values`.' }),
  values: valuesField.optional().meta({
    description:
      'Values to read from the page by rules as of `extract`: each is a selector, or an object with any of `selector`, `type` (text, attribute, number, money, date or count), `attribute` and `metadata`. A change of a value is told, or what `when` says.',
    examples: [{ price: { selector: '.price', type: 'money' }, stock: { metadata: 'Product.offers.availability' } }],
  }),
  when: whenField.optional().meta({
    description:
      'When the values are told: a condition, such as `{"value": "price", "below": 50}`, or `{"all": [...]}` or `{"any": [...]}` of conditions. A condition has one of `below`, `above`, `equals`, `contains`, `became`, `changed`, `rose`, `fell` and `missing`. Default: each change of a value.',
    examples: [{ value: 'price', below: 50, hysteresis: 2 }],
  }),
  ignore: ignoreField.meta({ description: IGNORE_DESCRIPTION, examples: [['moved', 'text:Updated *']] }),
  accept: z
    .array(z.int({ error: 'must be the id of a capture' }).positive({ error: 'must be the id of a capture' }))
    .max(MAX_ACCEPTED, { error: `must hold at most ${MAX_ACCEPTED} ids` })
    .default([])
    .meta({ description: 'Ids of captures that count as unchanged, such as the other side of an A/B test.' }),
  confirm: flag.default(true).meta({
    description: 'Capture again before a change is reported: what is gone then is `unconfirmed`.',
  }),
  keep: integer('', 2, STORED_LIMITS.watchRuns.count).default(50).meta({
    description:
      'Number of runs to keep, with their captures. The captures of older runs are removed. Runs of more than 1 MiB in all are removed, too, the oldest first.',
  }),
  labels: labelList.default([]).meta({
    description: `Texts to find watches and their captures by, at most ${MAX_LABELS}; events carry them.`,
  }),
} as const;

/** The comparison of a watch without values that names none: the image alone. */
export const DEFAULT_COMPARE = {
  visual: { threshold: DEFAULT_THRESHOLD },
  text: false,
  links: false,
  elements: false,
  status: false,
  title: false,
  verdict: false,
} as const satisfies z.output<typeof compare>;
/** The comparison of a watch with values that names none. */
export const NO_COMPARE = { ...DEFAULT_COMPARE, visual: false } as const;

interface Timing {
  readonly every?: number | undefined;
  readonly schedule?: string | undefined;
  readonly timeZone?: string | undefined;
  readonly jitter?: number | undefined;
}

/** Requires one of `every` and `schedule`, and refuses what belongs to the other. */
export function refuseTwoTimings({ every, schedule, timeZone, jitter }: Timing, context: z.RefinementCtx): void {
  const refuse = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
  if (every === undefined && schedule === undefined) refuse('every', 'is required, unless schedule is given');
  if (every !== undefined && schedule !== undefined) refuse('schedule', 'cannot be combined with every');
  if (schedule !== undefined) return;
  if (timeZone !== undefined) refuse('timeZone', 'requires schedule');
  if (jitter !== undefined) refuse('jitter', 'requires schedule: watches with every are spread over their interval');
}

interface UsesElements {
  readonly elementMap: boolean;
  readonly compare?: { readonly elements: readonly string[] | false } | undefined;
  readonly ignore: Pick<Ignore, 'selectors'>;
}

/** Requires the element map when selectors are looked up in it. */
export function refuseWithoutMap({ elementMap, compare, ignore }: UsesElements, context: z.RefinementCtx): void {
  if (elementMap || ((compare?.elements ?? false) === false && ignore.selectors.length === 0)) return;
  const message = 'must not be false with compare.elements, or with selectors in ignore';
  context.addIssue({ code: 'custom', path: ['elementMap'], message });
}

/** How a watch decides, as its body says it. */
export type WatchRules = Immutable<Omit<WrittenRules, 'compare'> & { compare: NonNullable<WrittenRules['compare']> }>;
type WrittenRules = z.output<z.ZodObject<typeof watchFields>>;

function problemOfPattern(pattern: string): string | undefined {
  try {
    const next = new Cron(pattern, { mode: '5-part', timezone: 'UTC' }).nextRun();
    return next === null ? 'is never due' : undefined;
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^CronPattern: /, '') : String(error);
    return `must be a cron pattern of five fields, such as "0 9 * * 1-5": ${reason}`;
  }
}

const RUN_STATES = ['first', 'unchanged', 'changed', 'unconfirmed', 'failed'] as const;

export const WatchRunSchema = z.strictObject({
  due: instant.meta({
    description:
      'When it was due. Later than that of each earlier run of the watch, also after the clock was set back.',
  }),
  at: instant.meta({ description: 'When it ended.' }),
  state: z.enum(RUN_STATES).meta({
    description:
      '`first`: there was nothing to compare with, and `reason` says why if it is not the first run; `unconfirmed`: a second capture did not show the change, or failed; `failed`: the page could not be captured or is not `content`.',
  }),
  capture: id.nullable().meta({ description: 'Id of its capture; null when there is none.' }),
  before: id.nullable().meta({ description: 'Id of the capture that it was compared with.' }),
  changed: z.array(z.enum(CHANGED)).meta({ description: 'What has changed.' }),
  share: z.number().min(0).max(1).nullable().meta({
    description: 'Changed pixels of all pixels after alignment; null when images were not compared.',
  }),
  regions: z
    .array(RegionSchema)
    .meta({ description: `The first ${MAX_REGIONS_OF_RUN} regions of the image that have changed.` }),
  values: z.record(z.string(), ReadValueSchema).nullable().meta({
    description: 'The values that it has read, by their names; null without a page, and for a watch without values.',
  }),
  verdict: z.enum(VERDICTS).nullable().meta({ description: 'Verdict on the page; null without a page.' }),
  code: FailureCodeSchema.nullable().meta({
    description: 'Code of the failure; null when the run did not fail, or failed by its verdict.',
  }),
  reason: z.string().nullable().meta({ description: 'For people: why it failed, or what became of the values.' }),
});
export type WatchRun = Immutable<z.output<typeof WatchRunSchema>>;

export const WatchValuesSchema = WatchRunSchema.pick({
  due: true,
  at: true,
  state: true,
  capture: true,
  values: true,
  reason: true,
});
export type WatchValues = Immutable<z.output<typeof WatchValuesSchema>>;

/** Maximum number of runs of each watch in a list of watches. */
export const MAX_RECENT_RUNS = 50;

/** A run in a list of watches. Its regions are in the history. */
const RecentRunSchema = WatchRunSchema.omit({ regions: true });

/** A watch, as it is answered. */
export const WatchSchema = z.strictObject({
  id: id.meta({ description: 'The id of the watch.' }),
  url: z.string(),
  host: z.string(),
  api_key_name: apiKeyName,
  state: z.enum(['active', 'paused']),
  every: z.string().nullable(),
  schedule: z.string().nullable(),
  time_zone: z.string().nullable(),
  options: z
    .record(z.string(), z.unknown())
    .meta({ description: 'Options of its captures that are not the defaults.' }),
  options_withheld: z.array(z.string()).meta({ description: 'Names of options that may hold a secret or are long.' }),
  compare: z.record(z.string(), z.unknown()).meta({ description: 'What is compared.' }),
  values: z.record(z.string(), z.unknown()).nullable().meta({ description: 'The rules of its values.' }),
  when: z.unknown().meta({ description: 'When its values are reported; null: at each change of one.' }),
  ignore: z.array(z.string()).meta({ description: 'What does not count as a change.' }),
  accept: z.array(id),
  confirm: z.boolean(),
  keep: count,
  labels: z.array(z.string()),
  notify: z.array(z.string()).meta({ description: 'Names of receivers that are told.' }),
  callback: z.string().nullable(),
  created_at: instant,
  next_run_at: instant.nullable().meta({ description: 'When it is due; null when it is paused.' }),
  baseline: id.nullable().meta({ description: 'Id of the capture that the next one is compared with.' }),
  runs: count.meta({ description: 'Runs so far, kept or not.' }),
  changes: count.meta({ description: 'Runs that found a change.' }),
  failures: count.meta({ description: 'Runs that have failed in a row.' }),
  last_run: WatchRunSchema.nullable(),
});
export type Watch = Immutable<z.output<typeof WatchSchema>>;

export const ListedWatchSchema = WatchSchema.extend({
  recent_runs: z
    .array(RecentRunSchema)
    .max(MAX_RECENT_RUNS)
    .exactOptional()
    .meta({ description: 'Its newest runs, newest first, without their regions; left out without `recent`.' }),
});
export type ListedWatch = Immutable<z.output<typeof ListedWatchSchema>>;
