import type { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { CapstanError, type Failure, failure } from '../../capture/errors.ts';

/** One line of a body that is not blank: its text, or what is wrong with it as a line. */
export type BodyLine = { readonly text: string } | { readonly failure: Failure };

export interface LineLimits {
  /** Most bytes of one line, its end not counted. There is no cap on the whole. */
  readonly maxBytes: number;
  /** How long nothing may come while it is waited for, in milliseconds. */
  readonly silenceMs: number;
}

const LF = 0x0a;
/** A millisecond's worth: a body may be nothing but blank lines. */
const BLANK_LINES_PER_TURN = 1_000;

/**
 * The lines of a body as they arrive, blank ones left out. It reads only when it is asked, so that a sender is held
 * back through its connection, and keeps no more than one chunk and one line. Errors with `request_timeout` after a
 * silence; time in which nothing was asked for does not count.
 */
export async function* bodyLines(
  body: Readable,
  { maxBytes, silenceMs }: LineLimits,
): AsyncGenerator<BodyLine, void, undefined> {
  // To destroy a request is to close its connection, and its answer is still to be sent.
  const chunks = body.iterator({ destroyOnReturn: false });
  const line = new PartialLine(maxBytes);
  let blank = 0;
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
}

/** What has come of a line. It is copied: a piece of a chunk would keep the whole chunk in memory. */
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

  /** The line with its last piece; undefined when it is blank. */
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

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new CapstanError('request_timeout', `Nothing came of the body for ${ms / 1000} seconds.`)),
    ms,
  );
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
