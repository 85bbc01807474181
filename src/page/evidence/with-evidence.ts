import { CapstanError } from '../../capture/errors.ts';
import type { Notes } from './notes.ts';

/** Adds what was recorded so far and the URL fetched last to a `CapstanError`. Returns other errors unchanged. */
export function withEvidence(
  thrown: unknown,
  { soFar, statusSoFar }: Pick<Notes, 'soFar' | 'statusSoFar'>,
  fetchedUrl: string,
): unknown {
  return thrown instanceof CapstanError
    ? thrown.with({ evidence: soFar, fetchedUrl, responseCode: statusSoFar })
    : thrown;
}
