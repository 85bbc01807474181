import { z } from 'zod';
import { parseWords } from '../../words/query.ts';
import type { Immutable } from '../basics/immutable.ts';
import { suggestion } from '../basics/similar-names.ts';
import { time } from '../basics/values.ts';
import { factsOfOption, optionFields } from '../options/groups.ts';
import { RECORDED_OUTCOMES } from '../result/recorded-outcome.ts';
import { VERDICTS } from '../result/verdict.ts';
import { JOB_ID } from '../work/job.ts';
import { hostConditionFields } from './host-conditions.ts';
import { labelList } from './marks.ts';

const MAX_TEXT_CHARACTERS = 200;
const STATUS = 'must be an HTTP status such as 404, a class of them such as 4xx, or 0 for no response';
const TEXT = `must be 1 to ${MAX_TEXT_CHARACTERS} characters with at least one letter or digit`;

/** Names of the options that records tell. */
const OPTION_NAMES: readonly string[] = [
  ...Object.keys(optionFields).filter((name) => factsOfOption(name)?.identity !== false),
  'timeoutMs',
];

function wantedOption(text: string): WantedOption {
  const [, name = '', value] = /^\s*([^=]*?)\s*(?:=\s*(.*?)\s*)?$/s.exec(text) ?? [];
  return { name, value };
}

function unknownOption(name: string): string {
  return `must be names of capture options, not ${JSON.stringify(name)}${suggestion([name], OPTION_NAMES)}`;
}

/** Conditions that narrow a list of results. Each may be left out; a result meets all that are given. */
export const conditionFields = {
  status: z
    .string()
    .regex(/^(0|[1-9]\d\d|[1-9]xx)$/, { error: STATUS })
    .meta({ description: 'HTTP status of the target: `404`, or `4xx` for a class; `0` for no response.' }),
  outcome: z
    .enum(RECORDED_OUTCOMES, { error: `must be one of ${RECORDED_OUTCOMES.join(', ')}` })
    .meta({ description: 'How the capture ended.' }),
  verdict: z
    .enum(VERDICTS, { error: `must be one of ${VERDICTS.join(', ')}` })
    .meta({ description: 'What the page turned out to be.' }),
  from: time.meta({ type: 'string', description: 'Earliest `probed_at`, in ISO 8601; a date begins at midnight UTC.' }),
  to: time.meta({ type: 'string', description: 'Results have an earlier `probed_at` than this.' }),
  text: z
    .string()
    .trim()
    .min(1, { error: TEXT, abort: true })
    .max(MAX_TEXT_CHARACTERS, { error: TEXT, abort: true })
    .regex(/[\p{L}\p{N}]/u, { error: TEXT })
    .meta({
      description:
        'Words that must all be in the title, `url` or `final_url`, in any order. Case, accents and invisible characters do not matter.',
    }),
  words: z
    .string()
    .trim()
    .superRefine((text, context) => {
      const query = parseWords(text);
      if (typeof query === 'string') context.addIssue({ code: 'custom', message: query });
    })
    .meta({
      description:
        'Words that the page shows: all of them, in any order. `"a phrase"` in this order, `-without` not, `ferr*` the beginning of a word. Case, accents and invisible characters do not matter; of languages without spaces, any part is found. Finds captures that were made with `--index-words`.',
    }),
  option: z
    .string()
    .max(MAX_TEXT_CHARACTERS, { error: `must have at most ${MAX_TEXT_CHARACTERS} characters`, abort: true })
    .transform((text, context): readonly WantedOption[] => {
      const wanted = text.split(',').map(wantedOption);
      for (const { name } of wanted) {
        if (!OPTION_NAMES.includes(name)) context.addIssue({ code: 'custom', message: unknownOption(name) });
      }
      return wanted;
    })
    .meta({
      type: 'string',
      description:
        'Capture options that were requested, separated by commas: `fullPage`, or with the value `device=iPhone 15`. Results have all of them.',
    }),
  scan: z
    .string()
    .regex(JOB_ID, { error: 'must be the id of a scan' })
    .meta({ description: 'Id of the scan that the capture belongs to.' }),
  label: z
    .string()
    .transform((text) => text.split(','))
    .pipe(labelList)
    .meta({ type: 'string', description: 'Labels, separated by commas. Results have all of them; case matters.' }),
  held: z.enum(['true'], { error: 'must be true' }).meta({ description: '`true`: captures that are kept by a hold.' }),
  ...hostConditionFields,
};

/** Checks given conditions. */
export const conditionsSchema = z.object(conditionFields).partial();

/** An option that a capture was requested with, and its value when that is a condition, too. */
type WantedOption = { readonly name: string; readonly value?: string | undefined };

export type ResultConditions = Immutable<z.output<typeof conditionsSchema>>;
