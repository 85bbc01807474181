import { z } from 'zod';
import { sentResult } from '../../capture/artifact-paths.ts';
import { GROUPED_BY, groupResults, MAX_GROUPED } from '../../grouping/group-results.ts';
import { answer } from '../answer/envelope.ts';
import { GroupsSchema } from '../answer/group-schemas.ts';
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
  description: `The largest groups first. Groups the newest ${MAX_GROUPED} results that meet the conditions. Results of several technologies are in several groups.`,
  tag: 'results',
  needsDatabase: true,
  parameters: {
    by: z.enum(GROUPED_BY, { error: BY }).meta({ description: 'What to group by.' }),
    host: hostPrefix.optional(),
    ...conditionParameters,
    limit: limitParameter(String(DEFAULT_LIMIT)),
  },
  answers: { 200: { description: 'The groups.', content: envelope('Groups', GroupsSchema) } },
  handle: async (ctx, { by, host, limit = DEFAULT_LIMIT, ...where }, { service: { results } }) => {
    const filter = host === undefined ? ({ by: 'all', where } as const) : ({ by: 'host', host, where } as const);
    const { groups, ...counts } = await groupResults(results, filter, by, limit);
    answer(ctx, { groups: groups.map((group) => ({ ...group, example: sentResult(group.example) })), ...counts });
  },
});
