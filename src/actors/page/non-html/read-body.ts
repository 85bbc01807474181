import { CapstanError } from '../../../capture/errors.ts';
import type { Deadline } from '../../deadline.ts';
import type { PageSession } from '../isolated-page.ts';

/** The event loop is held for each at once: a millisecond to read it, and three to hand it on. */
const CHUNK_BYTES = 512 * 1024;

/**
 * The body of a response that is paused, which can then only be fulfilled or failed, in pieces. Undefined when it has more than
 * `mostBytes`. Rejects with `target_unreachable` when it breaks off, and with `capture_timeout`.
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
    // The end alone comes in one without content.
    if (chunk.byteLength > 0) chunks.push(chunk);
    if (eof) return chunks;
  }
}
