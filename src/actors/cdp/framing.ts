import type { Readable } from 'node:stream';

export interface MessageLimits {
  /** Most bytes of an event. What a page says in its console and sends in its requests stands in them, at any length. */
  readonly eventBytes: number;
  /** Most bytes of an answer, which begins with its `id`: the largest picture has some 180 MiB in base64. */
  readonly answerBytes: number;
}

const LIMITS: MessageLimits = { eventBytes: 4 * 1024 * 1024, answerBytes: 256 * 1024 * 1024 };

/** How an answer begins. */
const ANSWER = '{"id":';
/** Of a message that is too long: enough to know whose answer it is. */
const HEAD_BYTES = 64;

/**
 * Calls `take` with each message of a stream in which a NUL ends a message. A message that spans many chunks (a
 * picture) is put together once, when its end is seen. One that is longer than it may be is never held: `pass` is called
 * with how it begins.
 */
export function readMessages(
  input: Readable,
  take: (text: string) => void,
  pass: (head: string) => void = () => {},
  limits: MessageLimits = LIMITS,
): void {
  let parts: Buffer[] = [];
  let bytes = 0;
  let most = limits.eventBytes;
  let passing = false;

  const begin = (): void => {
    parts = [];
    bytes = 0;
    most = limits.eventBytes;
    passing = false;
  };

  const add = (part: Buffer): void => {
    if (passing) return;
    parts.push(part);
    bytes += part.length;
    if (bytes <= most) return;
    const head = Buffer.concat(parts.slice(0, HEAD_BYTES)).toString('latin1', 0, HEAD_BYTES);
    if (head.startsWith(ANSWER)) most = limits.answerBytes;
    if (bytes <= most) return;
    begin();
    passing = true;
    pass(head);
  };

  input.on('data', (chunk: Buffer) => {
    let start = 0;
    for (let end = chunk.indexOf(0); end !== -1; end = chunk.indexOf(0, start)) {
      add(chunk.subarray(start, end));
      start = end + 1;
      const whole = passing ? undefined : Buffer.concat(parts).toString('utf8');
      begin();
      if (whole !== undefined) take(whole);
    }
    if (start < chunk.length) add(chunk.subarray(start));
  });
}
