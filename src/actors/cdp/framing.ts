import type { Readable } from 'node:stream';

/**
 * Calls `take` with each message of a stream in which a NUL ends a message. A message that spans many chunks (a
 * picture) is put together once, when its end is seen.
 */
export function readMessages(input: Readable, take: (text: string) => void): void {
  let parts: Buffer[] = [];
  input.on('data', (chunk: Buffer) => {
    let start = 0;
    for (let end = chunk.indexOf(0); end !== -1; end = chunk.indexOf(0, start)) {
      const tail = chunk.subarray(start, end);
      const message = parts.length === 0 ? tail : Buffer.concat([...parts, tail]);
      parts = [];
      start = end + 1;
      take(message.toString('utf8'));
    }
    if (start < chunk.length) parts.push(chunk.subarray(start));
  });
}
