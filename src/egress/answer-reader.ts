import type { Socket } from 'node:net';
import { ChunkedBody } from './chunked-body.ts';
import { normalizedHead } from './lenient-head.ts';

/** Reads the answers on one connection before Node's parser does. */
export interface AnswerReader {
  /** Call when a request is given the connection. */
  expectAnswer(): void;
  /**
   * Call when the answer has ended. Closes the connection when its body was irregular, or when bytes come before the
   * next request.
   */
  answerEnded(): void;
}

/** Of a normalized head. */
const CHUNKED = /^transfer-encoding:[ \t]*chunked[ \t]*\r$/im;

const readers = new WeakMap<object, AnswerReader>();

/** Returns the reader of a connection that `readAnswers` was given. */
export function answerReaderOf(socket: object): AnswerReader | undefined {
  return readers.get(socket);
}

/**
 * Normalizes the head of each answer that the socket receives, and bodies in chunks. Heads longer than `maxHeadBytes` are
 * passed on as they came, for Node's parser to refuse.
 */
export function readAnswers(socket: Socket, maxHeadBytes: number): Socket {
  let state: 'head' | 'body' | 'idle' = 'head';
  let received = Buffer.alloc(0);
  let chunks: ChunkedBody | null = null;
  const push = socket.push.bind(socket);

  const refuse = (what: string): false => {
    socket.destroy(Object.assign(new Error(`${what} is invalid`), { code: 'HPE_INVALID' }));
    return false;
  };

  const readBody = (bytes: Buffer, head?: Buffer): boolean => {
    const body = chunks === null ? bytes : chunks.read(bytes);
    if (body === null) return refuse('the body of the answer');
    if (head !== undefined) return push(Buffer.concat([head, body]));
    return body.length === 0 || push(body);
  };

  const readHead = (chunk: Buffer): boolean => {
    received = Buffer.concat([received, chunk]);
    const end = endOfHead(received);
    if (end === null && received.length <= maxHeadBytes) return true;
    const text = received.toString('latin1', 0, end ?? received.length);
    const head = end === null ? text : normalizedHead(text);
    if (head === null) return refuse('the head of the answer');
    const bytes = Buffer.from(head, 'latin1');
    const rest = received.subarray(text.length);
    received = Buffer.alloc(0);
    if (/^HTTP\/1\.[01] 1(?!01)/.test(head)) {
      // An interim answer. The head of the answer proper follows.
      const more = push(bytes);
      return rest.length > 0 ? readHead(rest) : more;
    }
    state = 'body';
    chunks = CHUNKED.test(head) ? new ChunkedBody() : null;
    return readBody(rest, bytes);
  };

  socket.push = (chunk: Buffer | null): boolean => {
    if (chunk === null) {
      if (received.length > 0) push(received);
      return push(null);
    }
    if (state === 'body') return readBody(chunk);
    if (state === 'head') return readHead(chunk);
    socket.destroy();
    return false;
  };
  readers.set(socket, {
    expectAnswer() {
      state = 'head';
    },
    answerEnded() {
      state = 'idle';
      if (chunks?.isRegular === false) socket.destroy();
    },
  });
  return socket;
}

/** Returns the offset after the empty line that ends the head, or null. Bytes without a status line end at once. */
function endOfHead(bytes: Buffer): number | null {
  const start = bytes.toString('latin1', 0, 8).toLowerCase().indexOf('http');
  if (start < 0) return bytes.length < 8 ? null : bytes.length;
  const ends = ['\n\n', '\n\r\n'].map((end) => [bytes.indexOf(end, start), end.length] as const);
  const [first] = ends.filter(([at]) => at >= 0).toSorted(([a], [b]) => a - b);
  return first === undefined ? null : first[0] + first[1];
}
