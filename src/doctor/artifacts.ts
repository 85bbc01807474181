import type { Config } from '../config/mod.ts';
import { type Finding, findingsOf } from './finding.ts';

const artifacts = findingsOf('object store');

/** Tries the object store, if captures are kept there. */
export async function examineArtifacts(config: Config): Promise<readonly Finding[]> {
  if (config.artifacts !== 's3') return [];
  const { inspectS3 } = await import('../storage/s3/inspect.ts');
  const { failure, lacks } = await inspectS3(config);
  if (failure !== undefined) return artifacts.failure(failure.found, failure.advice);
  return [
    ...artifacts.ok(`bucket "${config.s3Bucket}": objects can be written, read, listed and removed`),
    ...lacks.flatMap(({ found, advice }) => artifacts.warning(found, advice)),
  ];
}
