import { CapstanError } from '../../../capture/errors.ts';
import type { Evidence } from '../../../capture/evidence.ts';

/**
 * Adds the evidence recorded so far to the error of a failed capture. Errors other than `CapstanError` are returned
 * unchanged.
 */
export function withEvidence(thrown: unknown, evidence: Evidence): unknown {
  if (!(thrown instanceof CapstanError)) return thrown;
  const { code, message, download } = thrown;
  return new CapstanError(code, message, { cause: thrown, evidence, ...(download === undefined ? {} : { download }) });
}
