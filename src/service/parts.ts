import type { ClusterApi, Worker } from '../cluster/open-cluster.ts';
import type { CapturePipeline } from '../streams/capture-pipeline.ts';
import type { Capturing } from './capturing/start-capturing.ts';
import type { OpenedParts } from './opened-parts.ts';
import type { Receivers } from './receivers/open-receivers.ts';

/** The parts of a running service, which `create-service.ts` connects. */
export interface Parts extends OpenedParts {
  readonly capturing: Capturing;
  readonly pipeline: CapturePipeline;
  /** Undefined in a process that is the whole service. */
  readonly clusterApi: ClusterApi | undefined;
  /** Undefined in an api node, too. */
  readonly worker: Worker | undefined;
  readonly receivers: Receivers;
  /** Removes captures, except held ones and those whose files another data directory holds. */
  readonly removeHere: (captures: readonly number[]) => Promise<void>;
}
