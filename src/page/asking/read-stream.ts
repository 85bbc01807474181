import type { PageSession } from '../frames/page-session.ts';

/**
 * Reads a stream of the browser in parts; null when it has more than `maxBytes`, or `over` is aborted. The caller closes
 * the stream.
 */
export async function readStream(
  session: PageSession,
  handle: string,
  partBytes: number,
  maxBytes: number,
  over?: AbortSignal,
): Promise<Buffer[] | null> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for (;;) {
    const { data, eof, base64Encoded } = await session.send('IO.read', { handle, size: partBytes });
    const part = Buffer.from(data, base64Encoded === true ? 'base64' : 'utf8');
    bytes += part.byteLength;
    if (bytes > maxBytes || over?.aborted) return null;
    if (part.byteLength > 0) parts.push(part);
    if (eof) return parts;
  }
}
