import { z } from 'zod';
import type { Immutable } from '../basics/immutable.ts';
import { count } from '../basics/values.ts';

/*
 * A scan captures the targets of a list. Its fields, beside the list itself, are here; the options of its captures are
 * those of a ScreenshotRequest.
 */

/** Forms of lists, which are told by their beginning. */
const LIST_FORMS = ['lines', 'nmap', 'masscan', 'sitemap', 'csv'] as const;
export type ListForm = (typeof LIST_FORMS)[number];

/** Why a list names something that is no target. */
const LEFT_OUT = [
  'invalid',
  'too_large',
  'closed_port',
  'other_service',
  'host_down',
  'no_url',
  'unread_sitemap',
  'unfinished',
  'duplicate',
] as const;
export type LeftOut = (typeof LEFT_OUT)[number];

/** Number of captures of one host at a time. */
export const DEFAULT_PER_HOST = 2;
const MAX_PER_HOST = 100;
const MAX_DELAY_MS = 3_600_000;
const SCHEMES = ['https', 'http'] as const;
const PORTS = 'must be ports from 1 to 65535 and ranges of them, separated by commas, such as 80,443,8000-8100';
const SCHEME = `must be ${SCHEMES.join(', ')}, or both with a comma`;

const ports = z
  .string({ error: PORTS })
  .max(10_000, { error: 'must have at most 10000 characters' })
  .transform((text, context): readonly number[] => {
    const found = new Set<number>();
    let named = 0;
    for (const part of text.split(',')) {
      const [, from = '', to = from] = /^\s*(\d{1,5})\s*(?:-\s*(\d{1,5})\s*)?$/.exec(part) ?? [];
      const [first, last] = [Number(from), Number(to)];
      if (from === '' || first < 1 || last > 65_535 || last < first) {
        context.addIssue({ code: 'custom', message: `${PORTS}, not ${JSON.stringify(part.slice(0, 20))}` });
        return z.NEVER;
      }
      named += last - first + 1;
      if (named > 65_535) {
        context.addIssue({ code: 'custom', message: 'must name at most 65535 ports, also in ranges that overlap' });
        return z.NEVER;
      }
      for (let port = first; port <= last; port += 1) found.add(port);
    }
    return [...found];
  });

const schemes = z.string({ error: SCHEME }).transform((text, context): readonly ('https' | 'http')[] => {
  const named = new Set(text.split(',').map((part) => part.trim().toLowerCase()));
  const known = SCHEMES.filter((scheme) => named.has(scheme));
  if (known.length === named.size) return known;
  context.addIssue({ code: 'custom', message: `${SCHEME}, not ${JSON.stringify(text.slice(0, 50))}` });
  return z.NEVER;
});

function integer(min: number, max: number) {
  const error = `must be an integer from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
}

/** How the targets of a list are captured. */
export const scanFields = {
  ports: ports.optional().meta({
    type: 'string',
    description:
      'Ports to try at each host for which the list names none, such as `80,443,8000-8100`. Default: the port of the scheme.',
  }),
  schemes: schemes.optional().meta({
    type: 'string',
    description:
      'Schemes to try where the list names none: `https`, `http`, or both as `https,http`. Default: what answers, https preferred; of the ports 80 and 443 the one that belongs to them.',
  }),
  perHost: integer(1, MAX_PER_HOST)
    .optional()
    .meta({ description: `Maximum number of captures of one host at a time. Default: ${DEFAULT_PER_HOST}.` }),
  sameHostDelayMs: integer(0, MAX_DELAY_MS).optional().meta({
    description:
      'Pause between the end of a capture and the next start of one of the same host, in milliseconds; one at a time is captured of each host then. Default: 0.',
  }),
  concurrency: integer(1, 1_000_000).optional().meta({
    description: 'Maximum number of captures of this scan at once. Default and upper limit: the service-wide maximum.',
  }),
};

export type ScanSettings = Immutable<z.output<z.ZodObject<typeof scanFields>>>;

/** The report on a list that was read. */
export const ListReportSchema = z.strictObject({
  form: z.enum(LIST_FORMS).meta({ description: 'Form in which the list was read, as detected from its beginning.' }),
  targets: count.meta({ description: 'Number of targets, with all ports and schemes.' }),
  left_out: z.partialRecord(z.enum(LEFT_OUT), count).meta({ description: 'Number of items left out, by reason.' }),
  problems: z
    .array(z.strictObject({ line: count, text: z.string(), problem: z.string() }))
    .meta({ description: 'The first 100 items that were left out because of a mistake, with their lines, from 1.' }),
});

export type ListReport = Immutable<z.output<typeof ListReportSchema>>;
