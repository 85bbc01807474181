import { z } from 'zod';
import { sentResult } from '../../capture/artifacts/artifact-paths.ts';
import { bytesText, STORED_LIMITS } from '../../capture/stored-limits.ts';
import { GROUPED_BY, MAX_GROUPED } from '../../grouping/group-results.ts';
import { answer } from '../answer/envelope.ts';
import { GroupsSchema } from '../answer/group-schemas.ts';
import { recordsWithin } from '../answer/result-list.ts';
import { goneSignal } from '../connection/client-gone.ts';
import { callerOf } from '../keys/callers.ts';
import { envelope } from '../openapi/content.ts';
import { conditionParameters, DEFAULT_LIMIT, hostPrefix, limitParameter } from '../request/parameters.ts';
import { route } from '../route.ts';

const BY = `is required: one of ${GROUPED_BY.join(', ')}`;

/** Counts what results have in common. */
export const getGroups = route({
  method: 'GET',
  path: '/results/groups',
  operationId: 'groupResults',
  summary: 'What results have in common, with the number of results and the newest one for each.',
  description: `The largest groups first; ends after ${bytesText(STORED_LIMITS.results.bytes)} of examples. Groups the newest ${MAX_GROUPED} results that meet the conditions. Results of several technologies are in several groups.`,
  tag: 'results',
  needsDatabase: true,
  parameters: {
    by: z.enum(GROUPED_BY, { error: BY }).meta({ description: 'What to group by.' }),
    host: hostPrefix.optional(),
    ...conditionParameters,
    limit: limitParameter(String(DEFAULT_LIMIT)),
  },
  answers: { 200: { description: 'The groups.', content: envelope('Groups', GroupsSchema) } },
  failures: ['queue_full'],
  handle: async (ctx, { by, host, limit = DEFAULT_LIMIT, ...where }, { service: { results }, groupings }) => {
    const filter = host === undefined ? ({ by: 'all', where } as const) : ({ by: 'host', host, where } as const);
    const { gone, release } = goneSignal(ctx);
    try {
      const { groups, ...counts } = await groupings.of(callerOf(ctx).owner, results, filter, by, limit, gone);
      const examples = await recordsWithin(
        results,
        groups.map(({ example }) => example),
      );
      const sent = new Map(examples.map((result) => [result.id, sentResult(result)]));
      const shown = groups.flatMap((group) => {
        const example = sent.get(group.example);
        return example === undefined ? [] : [{ ...group, example }];
      });
      answer(ctx, { groups: shown, ...counts, omitted: counts.omitted + groups.length - shown.length });
    } finally {
      release();
    }
  },
});
