import { CapstanError } from '../../../capture/errors.ts';
import type { Deadline } from '../../deadline.ts';
import type { PageSession } from '../page-session.ts';

/** Size of a part, in bytes. Each part blocks the event loop: 1 ms to read it, 3 ms to pass it on. */
const CHUNK_BYTES = 512 * 1024;

/**
 * Reads the body of a paused response in parts; the response can then only be fulfilled or failed. Resolves with
 * undefined when the body has more than `maxBytes`. Rejects with `target_unreachable` when the body breaks off, and
 * with `capture_timeout` at the deadline.
 */
export async function readBody(
  session: PageSession,
  requestId: string,
  maxBytes: number,
  deadline: Deadline,
): Promise<readonly Buffer[] | undefined> {
  const { stream } = await deadline.step(
    'read the body',
    session.send('Fetch.takeResponseBodyAsStream', { requestId }),
  );
  const chunks: Buffer[] = [];
  let bytes = 0;
  for (;;) {
    const reading = session.send('IO.read', { handle: stream, size: CHUNK_BYTES }).catch((error: unknown) => {
      throw new CapstanError('target_unreachable', 'the connection was closed before all of it had come', {
        cause: error,
      });
    });
    const { data, base64Encoded, eof } = await deadline.step('read the body', reading);
    const chunk = Buffer.from(data, base64Encoded ? 'base64' : 'latin1');
    bytes += chunk.byteLength;
    if (bytes > maxBytes) return undefined;
    // Only the last part has no content.
    if (chunk.byteLength > 0) chunks.push(chunk);
    if (eof) return chunks;
  }
}
