import { z } from 'zod';
import type { Immutable } from '../basics/immutable.ts';
import { count } from '../basics/values.ts';

/** Number of connections that the egress policy has refused since the start, by reason. */
export const EgressRefusalsSchema = z.strictObject({
  scheme: count.meta({ description: 'Neither `http:` nor `https:`.' }),
  port: count.meta({ description: 'A port that browsers refuse to open.' }),
  address: count.meta({ description: 'Not a public address.' }),
  denied: count.meta({ description: 'Denied by the operator (`--deny-targets`).' }),
  requests: count.meta({ description: 'Above the maximum number of requests of one capture.' }),
  names: count.meta({ description: 'Above the maximum number of host names of one capture.' }),
  bytes: count.meta({ description: 'Above the maximum number of bytes of one capture.' }),
});

export type EgressRefusals = Immutable<z.output<typeof EgressRefusalsSchema>>;
export type EgressRefusalReason = keyof EgressRefusals;

export function noEgressRefusals(): z.output<typeof EgressRefusalsSchema> {
  return { scheme: 0, port: 0, address: 0, denied: 0, requests: 0, names: 0, bytes: 0 };
}
