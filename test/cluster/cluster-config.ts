import { configOf } from '../../src/config/mod.ts';
import type { ClusterConfig } from '../../src/config/slices.ts';

/** The options of a process of a cluster, by default those of the service. */
export function clusterConfig(given: Partial<ClusterConfig>): ClusterConfig {
  return { ...configOf({}, { cores: 1 }), ...given };
}
