import { z } from 'zod';
import { EVIDENCE_KINDS, type EvidenceKind } from '../evidence.ts';
import { optionFacts } from './facts.ts';
import { integer } from './fields.ts';

/** Thirty days. */
const MAX_CACHE_AGE_MS = 30 * 24 * 60 * 60 * 1000;

const EVIDENCE = { error: `must be "all" or a list of ${EVIDENCE_KINDS.join(', ')}` };

/** Evidence to record, and the reuse of stored captures. */
export const recordFields = {
  evidence: z
    .union([z.literal('all'), z.array(z.enum(EVIDENCE_KINDS, EVIDENCE)).max(EVIDENCE_KINDS.length, EVIDENCE)], EVIDENCE)
    .transform(chosenKinds)
    .optional()
    .meta({
      description:
        'Evidence to record beyond what is always recorded; each kind costs a little. `GET /results/{id}` returns it in `evidence`; `perception_hash` is a field of the result.',
      examples: [['redirects', 'tls'], 'all'],
    }),
  cacheMaxAgeMs: integer('milliseconds', 0, MAX_CACHE_AGE_MS)
    .default(0)
    .meta({
      description:
        'Accept a stored capture of the same URL with equal options that is at most this old, in milliseconds; it is answered with `cached: true`. Equal requests in flight share one capture. 0 captures anew.',
    })
    .register(optionFacts, { identity: false }),
};

/** Returns the kinds in a fixed order, undefined for none, so that equal requests compare equal. */
function chosenKinds(written: 'all' | readonly EvidenceKind[]): readonly EvidenceKind[] | undefined {
  const kinds = EVIDENCE_KINDS.filter((kind) => written === 'all' || written.includes(kind));
  return kinds.length > 0 ? kinds : undefined;
}
