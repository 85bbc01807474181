import { z } from 'zod';
import { EVIDENCE_KINDS, type EvidenceKind } from '../evidence.ts';
import { optionFacts } from './facts.ts';
import { integer } from './fields.ts';

/** Thirty days: what is older is no answer to a question of now. */
const MAX_CACHE_AGE_MS = 30 * 24 * 60 * 60 * 1000;

const EVIDENCE = { error: `must be "all" or a list of ${EVIDENCE_KINDS.join(', ')}` };

/** What is noted beside the screenshot, and what may be taken in place of a new capture. */
export const recordFields = {
  evidence: z
    .union([z.literal('all'), z.array(z.enum(EVIDENCE_KINDS, EVIDENCE)).max(EVIDENCE_KINDS.length, EVIDENCE)], EVIDENCE)
    .transform(chosenKinds)
    .optional()
    .meta({
      description:
        'What is noted beyond what comes for free: each of them costs a little. `GET /results/{id}` has it in `evidence`, a `perception_hash` is in the result itself.',
      examples: [['redirects', 'tls'], 'all'],
    }),
  cacheMaxAgeMs: integer('milliseconds', 0, MAX_CACHE_AGE_MS)
    .default(0)
    .meta({
      description:
        'A stored capture of exactly this URL with equal options that is at most so old is the answer, with `cached: true`; equal requests under way that have it share one page. With 0 it is captured anew.',
    })
    .register(optionFacts, { identity: false }),
};

/** In one order, and none as if it were not given: what notes the same is the same. */
function chosenKinds(written: 'all' | readonly EvidenceKind[]): readonly EvidenceKind[] | undefined {
  const kinds = EVIDENCE_KINDS.filter((kind) => written === 'all' || written.includes(kind));
  return kinds.length > 0 ? kinds : undefined;
}
