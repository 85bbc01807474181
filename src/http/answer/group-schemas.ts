import { z } from 'zod';
import type { Immutable } from '../../capture/basics/immutable.ts';
import { count } from '../../capture/basics/values.ts';
import { MAX_GROUPED } from '../../grouping/group-results.ts';
import { ResultSchema } from './schemas.ts';

/** Groups of results that have something in common: the answer of `GET /results/groups`. */
export const GroupsSchema = z.strictObject({
  groups: z.array(
    z.strictObject({
      value: z.string().meta({
        description:
          'What the results have in common: the title; the hash of the favicon; the software, as the condition `technology` takes it; the SHA-256 of the certificate; a perception hash that those of the group are similar to.',
      }),
      count: count.meta({ description: 'Results in the group.' }),
      hosts: count.meta({ description: 'Different hosts among them, at most 1000.' }),
      example: ResultSchema.meta({ description: 'The newest of them.' }),
    }),
  ),
  omitted: count.meta({ description: 'Further groups, which are smaller, or whose example was removed meanwhile.' }),
  results: count.meta({ description: 'Results that were read.' }),
  without: count.meta({ description: 'Those among them that have no such value, and are in no group.' }),
  truncated: z.boolean().meta({ description: `There are more results; the newest ${MAX_GROUPED} were read.` }),
});

export type { GroupedBy } from '../../grouping/group-results.ts';
export type GroupsAnswer = Immutable<z.output<typeof GroupsSchema>>;
