import type { ClusterModel } from './cluster-model.ts';

/** A limit of one cluster, and the captures a second at which it is reached. */
export interface Limit {
  readonly what: string;
  readonly perSecond: number;
}

/** Default and maximum of `--cluster-max-concurrent`. */
const DEFAULT_LIMIT = 1_000;
const MAX_LIMIT = 100_000;
const MAX_API_NODES = 32;
/** Pulls that the consumer keeps. */
const MAX_PULLS = 8_192;

/**
 * Returns the limits of one cluster, the lowest first. `maxBusy`: the share of its time for which an api node or the
 * stream may be busy.
 */
export function limitsOfOneCluster(
  costs: Pick<ClusterModel, 'apiSeconds' | 'streamSeconds'> & { readonly meanServiceSeconds: number },
  maxBusy: number,
): readonly Limit[] {
  const { apiSeconds, streamSeconds, meanServiceSeconds } = costs;
  return [
    { what: `--cluster-max-concurrent ${DEFAULT_LIMIT} (default)`, perSecond: DEFAULT_LIMIT / meanServiceSeconds },
    { what: `${MAX_PULLS} free slots (max_waiting)`, perSecond: MAX_PULLS / meanServiceSeconds },
    {
      what: `${MAX_API_NODES} api nodes, ${maxBusy * 100} % of a core each`,
      perSecond: (MAX_API_NODES * maxBusy) / apiSeconds,
    },
    { what: `one stream, ${maxBusy * 100} % of a core`, perSecond: maxBusy / streamSeconds },
    { what: `--cluster-max-concurrent ${MAX_LIMIT} (maximum)`, perSecond: MAX_LIMIT / meanServiceSeconds },
  ].toSorted((a, b) => a.perSecond - b.perSecond);
}
