import { CapstanError } from '../../capture/errors.ts';
import type { Evidence } from '../../capture/evidence.ts';

/** Adds the evidence recorded so far and the URL fetched last to a `CapstanError`. Returns other errors unchanged. */
export function withEvidence(thrown: unknown, evidence: Evidence, fetchedUrl: string): unknown {
  if (!(thrown instanceof CapstanError)) return thrown;
  const { code, message, download } = thrown;
  return new CapstanError(code, message, {
    cause: thrown,
    evidence,
    fetchedUrl,
    ...(download === undefined ? {} : { download }),
  });
}
