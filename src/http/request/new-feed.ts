import { z } from 'zod';
import type { FeedSource } from '../../capture/finding/feed.ts';
import { label } from '../../capture/finding/marks.ts';
import { conditionFields, conditionsSchema } from '../../capture/finding/result-conditions.ts';
import { overHttp } from '../../capture/target.ts';
import { parseOrRefuse } from '../../capture/validate.ts';
import type { ResultFilter } from '../../storage/ports/result-store.ts';
import { hostPrefix, targetUrl } from './parameters.ts';

/* The body that makes a feed. The conditions of a search are kept as they were written. */

const SOURCES = ['watch', 'label', 'scan', 'search'] as const;
const ONE_OF = `must have one of ${SOURCES.join(', ')}`;
const WATCH = 'must be the id of a watch';

const SearchSchema = z
  .strictObject({ ...conditionsSchema.shape, host: hostPrefix.optional(), url: targetUrl.optional() })
  .refine((search) => Object.keys(search).length > 0, { error: 'must have at least one condition' })
  .refine(({ host, url }) => host === undefined || url === undefined, {
    error: 'cannot be combined with url',
    path: ['host'],
  });

export const NewFeedSchema = z
  .strictObject({
    watch: z
      .int({ error: WATCH })
      .positive({ error: WATCH })
      .optional()
      .meta({ description: 'A watch: its changes, failures and recoveries.' }),
    label: label.optional().meta({ description: 'Captures with this label.' }),
    scan: conditionFields.scan.optional().meta({ description: 'Captures of this scan.' }),
    search: SearchSchema.optional().meta({
      description: 'Captures that meet all of these conditions: those of `GET /results`, and `host` or `url`.',
      examples: [{ host: 'example.com', verdict: 'content' }],
    }),
  })
  .refine((wanted) => SOURCES.filter((name) => wanted[name] !== undefined).length === 1, { error: ONE_OF });

const WrittenSchema = z.object({ search: z.record(z.string(), z.string()).optional() });

/** Returns what a feed is of. `body`: as it was sent. */
export function sourceOf({ watch, label, scan }: z.output<typeof NewFeedSchema>, body: unknown): FeedSource {
  if (watch !== undefined) return { watch };
  if (label !== undefined) return { label };
  return scan === undefined ? { search: WrittenSchema.parse(body).search ?? {} } : { scan };
}

/** Returns which captures a feed lists that is not of a watch. */
export function filterOf({ label, scan, search }: FeedSource): ResultFilter {
  if (label !== undefined) return { by: 'all', where: { label: [label] } };
  if (scan !== undefined) return { by: 'all', where: { scan } };
  const { host, url, ...where } = parseOrRefuse(SearchSchema, search);
  if (url !== undefined) return { by: 'url', url: url.url, orUrl: overHttp(url), where };
  return host === undefined ? { by: 'all', where } : { by: 'host', host, where };
}
