import type { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { CapstanError, type Failure, failure } from '../../capture/errors.ts';

/** A line that is not blank: its text, or why it is not a valid line. */
export type BodyLine = { readonly text: string } | { readonly failure: Failure };

interface LineLimits {
  /** Maximum bytes of one line without its line feed. The body as a whole has no limit. */
  readonly maxBytes: number;
  /** Maximum time to wait for more bytes of the body, in milliseconds. */
  readonly silenceMs: number;
}

const LF = 0x0a;
/** Number of blank lines that are read before the event loop gets a turn: about 1 ms of work. */
const BLANK_LINES_PER_TURN = 1_000;

/**
 * Generates the lines of a body as they arrive, without blank ones. Reads only on demand, so that TCP slows the sender
 * down, and holds at most one chunk and one line. Throws `request_timeout` after `silenceMs` of waiting for bytes.
 */
export async function* bodyLines(
  body: Readable,
  { maxBytes, silenceMs }: LineLimits,
): AsyncGenerator<BodyLine, void, undefined> {
  // Destroying a request closes its connection, on which the answer is still to be sent.
  const chunks = body.iterator({ destroyOnReturn: false });
  const line = new PartialLine(maxBytes);
  let blank = 0;
  try {
    for (;;) {
      const step = await within(silenceMs, chunks.next());
      if (step.done === true) break;
      const chunk: Buffer = step.value;
      let from = 0;
      for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, from)) {
        const whole = line.end(chunk.subarray(from, end));
        if (whole !== undefined) yield whole;
        else if (++blank % BLANK_LINES_PER_TURN === 0) await nextTurn();
        from = end + 1;
      }
      line.add(chunk.subarray(from));
    }
    const last = line.end(new Uint8Array());
    if (last !== undefined) yield last;
  } finally {
    // An iterator that has not ended keeps the rest of the body from being read by others. An iterator that waits for
    // bytes ends when they come.
    await Promise.race([chunks.return?.(), nextTurn()]);
  }
}

/** The bytes of an unfinished line. They are copied, because a slice of a chunk keeps the whole chunk in memory. */
class PartialLine {
  readonly #held: Buffer;
  readonly #text = new TextDecoder('utf-8', { fatal: true });
  #bytes = 0;
  #tooLong = false;

  constructor(maxBytes: number) {
    this.#held = Buffer.allocUnsafe(maxBytes);
  }

  add(piece: Uint8Array): void {
    this.#tooLong ||= this.#bytes + piece.length > this.#held.length;
    if (this.#tooLong) return;
    this.#held.set(piece, this.#bytes);
    this.#bytes += piece.length;
  }

  /** Ends the line with its last piece and returns it; undefined when it is blank. */
  end(piece: Uint8Array): BodyLine | undefined {
    const line = this.#bytes === 0 && !this.#tooLong && piece.length <= this.#held.length ? piece : this.#joined(piece);
    const whole = line === undefined ? tooLong(this.#held.length) : this.#read(line);
    this.#bytes = 0;
    this.#tooLong = false;
    return whole;
  }

  #joined(piece: Uint8Array): Uint8Array | undefined {
    this.add(piece);
    return this.#tooLong ? undefined : this.#held.subarray(0, this.#bytes);
  }

  #read(line: Uint8Array): BodyLine | undefined {
    try {
      const text = this.#text.decode(line);
      return text.trim() === '' ? undefined : { text };
    } catch {
      return { failure: failure('invalid_json', 'The line is not UTF-8.') };
    }
  }
}

function tooLong(maxBytes: number): BodyLine {
  return { failure: failure('invalid_request', `The line is longer than ${maxBytes} bytes.`) };
}

/** @throws `request_timeout` after `ms` of waiting for a body. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new CapstanError('request_timeout', `The body was silent for ${ms / 1000} seconds.`)),
    ms,
  );
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
