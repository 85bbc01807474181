import { z } from 'zod';
import type { Immutable } from '../basics/immutable.ts';
import { count } from '../basics/values.ts';

/** Number of targets that were not reached since the start, by reason. */
const DeadTargetsSchema = z.strictObject({
  no_name: count.meta({ description: 'No such name, or a name without an address.' }),
  name_server: count.meta({ description: 'The name servers gave no answer.' }),
  refused: count.meta({ description: 'The connection was refused.' }),
  reset: count.meta({ description: 'The connection was reset.' }),
  silent: count.meta({ description: 'No answer in time.' }),
  no_route: count.meta({ description: 'No route to the address.' }),
  proxy: count.meta({ description: 'The proxy that the request names was not reached.' }),
  forbidden: count.meta({ description: 'The egress policy forbids it.' }),
  other: count,
});

/** Targets that are dialled before their captures wait for a slot. */
export const DialStatsSchema = z
  .strictObject({
    max: count.meta({ description: '`--max-dials`.' }),
    dialling: count.meta({ description: 'Being looked up or connected to now.' }),
    reached: count.meta({ description: 'Connected since the start.' }),
    dead: DeadTargetsSchema,
  })
  .meta({ description: 'Targets that were dialled before their captures waited for a slot, since the start.' });

export type DeadReason = keyof z.output<typeof DeadTargetsSchema>;
export type DialCounts = Immutable<Omit<z.output<typeof DialStatsSchema>, 'max'>>;

/** Counts of an egress that has dialled nothing. */
export function noDials() {
  const dead = {
    no_name: 0,
    name_server: 0,
    refused: 0,
    reset: 0,
    silent: 0,
    no_route: 0,
    proxy: 0,
    forbidden: 0,
    other: 0,
  };
  return { dialling: 0, reached: 0, dead };
}
