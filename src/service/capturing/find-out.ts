import type { CaptureCommand } from '../../capture/command.ts';
import { within } from '../../capture/deadline.ts';
import type { Findings } from '../../capture/result/build-result.ts';
import type { Snapshot } from '../../capture/result/snapshot.ts';
import type { Egress } from '../../egress/egress.ts';
import { perceptionHash } from '../../imaging/perception-hash.ts';
import type { Logger } from '../../log/log.ts';
import type { Technologies } from '../../technologies/technologies.ts';
import type { IpFactsSource } from './ip-facts.ts';

export interface FindingParts {
  readonly egress: Pick<Egress, 'aliasesOf'>;
  readonly ipFacts: IpFactsSource;
  readonly technologies: Technologies;
  readonly logger: Logger;
}

/** Time limit for the chain of aliases, which the name server has in its cache, in milliseconds. */
const MAX_ALIASES_MS = 1_000;

/** Looks up facts that the browser does not provide, within `leftMs`. */
export async function findOut(
  { id, request, signal }: CaptureCommand,
  { image, remoteIp, finalUrl, hostFacts, softwareSigns }: Snapshot,
  leftMs: number,
  { egress, ipFacts, technologies, logger }: FindingParts,
): Promise<Findings> {
  const isHashed = request.evidence?.includes('perception_hash') === true && request.format !== 'pdf';
  const hashing = isHashed
    ? perceptionHash(image).catch((error: unknown) => {
        logger.warn({ capture_id: id, err: error }, 'a screenshot could not be hashed');
        return null;
      })
    : null;
  // For a proxied target, only the proxy knows the aliases.
  const isOwnLookup = remoteIp !== null && request.proxy === undefined;
  const [known, hash, cnames, software] = await Promise.all([
    ipFacts.lookUp(remoteIp, leftMs, signal),
    hashing === null ? null : within(Math.max(0, leftMs), hashing, null),
    isOwnLookup ? egress.aliasesOf(new URL(finalUrl), Math.min(leftMs, MAX_ALIASES_MS)) : [],
    hostFacts === null ? [] : technologies.find(softwareSigns),
  ]);
  return { ipFacts: known, perceptionHash: hash, cnames, technologies: software };
}
