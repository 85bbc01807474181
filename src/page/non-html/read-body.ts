import type { Deadline } from '../../capture/deadline.ts';
import { CapstanError } from '../../capture/errors.ts';
import { readStream } from '../asking/read-stream.ts';
import type { PageSession } from '../frames/page-session.ts';

/** Size of a part, in bytes. Each part blocks the event loop: 1 ms to read it, 3 ms to pass it on. */
export const PART_BYTES = 512 * 1024;

/**
 * Reads the body of a paused response in parts; the response can then only be fulfilled or failed. Resolves with
 * null when the body has more than `maxBytes`. Rejects with `target_unreachable` when the body breaks off, and
 * with `capture_timeout` at the deadline.
 */
export async function readBody(
  session: PageSession,
  requestId: string,
  maxBytes: number,
  deadline: Deadline,
): Promise<Buffer[] | null> {
  const read = async () => {
    const { stream } = await session.send('Fetch.takeResponseBodyAsStream', { requestId });
    return readStream(session, stream, PART_BYTES, maxBytes).catch((cause: unknown) => {
      throw new CapstanError('target_unreachable', 'the connection was closed before all of it had come', { cause });
    });
  };
  return deadline.step('read the body', read());
}
