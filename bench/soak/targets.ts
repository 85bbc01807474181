import type { Random } from '../../test/faults/random.ts';

/** A private address, which may not be captured. */
const PRIVATE = 'http://10.255.255.1/';
/** Deadline for pages that never arrive. */
const HANGING_TIMEOUT_MS = 2000;
const TIMEOUT_MS = 30_000;

const PATHS = {
  good: ['/short', '/medium', '/heavy', '/lighthouse', '/logbook', '/title?t=soak', '/cookie', '/storage'],
  slow: ['/slow?ms=300', '/slow?ms=1200', '/slow-image?ms=800', '/meta-refresh', '/js-redirect'],
  broken: ['/404', '/500', '/empty-response', '/redirect-loop', '/dialog', '/popup', '/download', '/blank'],
  hanging: ['/hang', '/never', '/loop', '/loop?when=parse'],
  forbidden: ['', `/redirect?to=${encodeURIComponent(PRIVATE)}`],
} as const;

/** Weighted: six of ten targets are good or slow. */
const KINDS = ['good', 'good', 'good', 'good', 'slow', 'slow', 'broken', 'broken', 'hanging', 'forbidden'] as const;

/** Returns a request of a target. */
export function anyRequest(origin: string, random: Random) {
  const kind = random.pick(KINDS);
  const path = random.pick<string>(PATHS[kind]);
  const timeoutMs = kind === 'hanging' ? HANGING_TIMEOUT_MS : TIMEOUT_MS;
  return { url: path === '' ? PRIVATE : origin + path, timeoutMs };
}
