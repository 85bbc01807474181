import type { Socket } from 'node:net';
import { normalizedHead } from './lenient-head.ts';

/** Reads the answers on one connection before Node's parser does. */
export interface AnswerReader {
  /** Call when a request is given the connection. */
  expectAnswer(): void;
  /** Call when the answer has ended. Bytes that come before the next request close the connection. */
  answerEnded(): void;
}

const readers = new WeakMap<object, AnswerReader>();

/** Returns the reader of a connection that `readAnswers` was given. */
export function answerReaderOf(socket: object): AnswerReader | undefined {
  return readers.get(socket);
}

/**
 * Normalizes the head of each answer that the socket receives. Heads longer than `maxHeadBytes` are passed on as they
 * came, for Node's parser to refuse.
 */
export function readAnswers(socket: Socket, maxHeadBytes: number): Socket {
  let state: 'head' | 'body' | 'idle' = 'head';
  let received = Buffer.alloc(0);
  const push = socket.push.bind(socket);

  const passOn = (bytes: Buffer): boolean => {
    received = Buffer.alloc(0);
    state = 'body';
    return push(bytes);
  };

  const readHead = (chunk: Buffer): boolean => {
    received = Buffer.concat([received, chunk]);
    const end = endOfHead(received);
    if (end === null) return received.length > maxHeadBytes ? passOn(received) : true;
    const head = normalizedHead(received.toString('latin1', 0, end));
    const rest = received.subarray(end);
    if (head === null) {
      socket.destroy(Object.assign(new Error('the head of the answer is invalid'), { code: 'HPE_INVALID_HEAD' }));
      return false;
    }
    if (!/^HTTP\/1\.[01] 1(?!01)/.test(head)) return passOn(Buffer.concat([Buffer.from(head, 'latin1'), rest]));
    // An interim answer. The head of the answer proper follows.
    received = Buffer.alloc(0);
    const more = push(Buffer.from(head, 'latin1'));
    return rest.length > 0 ? readHead(rest) : more;
  };

  socket.push = (chunk: Buffer | null): boolean => {
    if (chunk === null) {
      if (received.length > 0) passOn(received);
      return push(null);
    }
    if (state === 'body') return push(chunk);
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
