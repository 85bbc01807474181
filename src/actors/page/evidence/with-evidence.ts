import { CapstanError } from '../../../capture/errors.ts';
import type { Evidence } from '../../../capture/evidence.ts';

/** What a capture failed with, with what was noted until then. What is no `CapstanError` is given back as it is. */
export function withEvidence(thrown: unknown, evidence: Evidence): unknown {
  if (!(thrown instanceof CapstanError)) return thrown;
  const { code, message, download } = thrown;
  return new CapstanError(code, message, { cause: thrown, evidence, ...(download === undefined ? {} : { download }) });
}
