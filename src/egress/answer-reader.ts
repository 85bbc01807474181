import type { Socket } from 'node:net';
import { ChunkedBody } from './chunked-body.ts';
import { HEAD_OF_HTTP_09, normalizedHead } from './lenient-head.ts';

/** Reads the answers on one connection before Node's parser does. */
interface AnswerReader {
  /** Call when a request is given the connection. */
  expectAnswer(): void;
  /**
   * Call when the answer has ended. Closes the connection when its body was irregular, or when bytes come before the
   * next request.
   */
  answerEnded(): void;
}

/* Of a normalized head. */
const INTERIM = /^HTTP\/1\.[01] 1(?!01)/;
const FRAMING = /^(?:content-length|transfer-encoding)\b.*$/gim;
const CHUNKED = /^transfer-encoding:[ \t]*chunked[ \t]*\r$/im;

const NOTHING = Buffer.alloc(0);
const HTTP_PORT = 80;
/** `http`, which may come after up to four other bytes. */
const MAX_BYTES_TO_START = 8;
const CR = 0x0d;
const LF = 0x0a;

const readers = new WeakMap<object, AnswerReader>();

/** Returns the reader of a connection that `readAnswers` was given. */
export function answerReaderOf(socket: object): AnswerReader | undefined {
  return readers.get(socket);
}

interface ReadingOptions {
  /** The port of the URL. */
  readonly port: number;
  readonly maxHeadBytes: number;
  /** Called with the number of bytes received, of which Node's parser sees only a part; may close the socket. */
  readonly count: (bytes: number) => void;
}

/**
 * Normalizes the head of each answer that the socket receives, and bodies in chunks. Heads longer than `maxHeadBytes`
 * are passed on as they came, for Node's parser to refuse; longer interim answers or trailers end the connection.
 */
export function readAnswers(socket: Socket, { port, maxHeadBytes, count }: ReadingOptions): Socket {
  let state: 'head' | 'body' | 'idle' = 'head';
  let received: Buffer = NOTHING;
  /** Offset in `received` before which no empty line begins. */
  let searched = 0;
  /** Bytes of the interim answers before the answer. */
  let interimBytes = 0;
  let chunks: ChunkedBody | null = null;
  const push = socket.push.bind(socket);

  const refuse = (): false => {
    socket.destroy(Object.assign(new Error('the head of the answer is invalid'), { code: 'HPE_INVALID' }));
    return false;
  };

  const readBody = (bytes: Buffer, head: readonly Buffer[] = []): boolean => {
    const body = chunks === null ? [bytes] : chunks.read(bytes);
    return push(joined([...head, ...body]));
  };

  /** Passes all that was received on as a body, where Chromium does: Shoutcast servers answer like that on any port. */
  const readHttp09 = (): boolean => {
    const isRead = port === HTTP_PORT || /^icy/i.test(received.toString('latin1', 0, 3));
    if (!isRead || interimBytes > 0) return refuse();
    const answer = joined([HEAD_OF_HTTP_09, received]);
    received = NOTHING;
    state = 'body';
    chunks = null;
    return push(answer);
  };

  const readHead = (chunk: Buffer): boolean => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    for (let more = true; ; ) {
      const start = startOfHead(received);
      if (start < 0 && received.length >= MAX_BYTES_TO_START) return readHttp09();
      const end = start < 0 ? null : endOfHead(received, Math.max(start, searched));
      if (end === null && received.length <= maxHeadBytes) {
        searched = Math.max(0, received.length - 2);
        return more;
      }
      const text = received.toString('latin1', 0, end ?? received.length);
      const head = end === null ? text : normalizedHead(text);
      if (head === null) return refuse();
      searched = 0;
      if (!INTERIM.test(head)) {
        const rest = received.subarray(text.length);
        const answer = received;
        received = NOTHING;
        state = 'body';
        chunks = CHUNKED.test(head) ? new ChunkedBody(maxHeadBytes) : null;
        return chunks === null && head === text ? push(answer) : readBody(rest, [Buffer.from(head, 'latin1')]);
      }
      // The head of the answer proper follows.
      received = received.subarray(text.length);
      interimBytes += text.length;
      if (interimBytes > maxHeadBytes) return refuse();
      more = push(Buffer.from(head, 'latin1'));
      if (socket.destroyed) return false;
    }
  };

  /** Chromium takes a head for whole that the end of the connection cuts, and expects no body. */
  const pushHeadAtEnd = (): void => {
    if (startOfHead(received) < 0) return void readHttp09();
    const head = normalizedHead(`${received.toString('latin1').replaceAll(FRAMING, '')}\r\n\r\n`);
    push(head === null ? received : Buffer.from(head, 'latin1'));
  };

  socket.push = (chunk: Buffer | null): boolean => {
    if (chunk === null) {
      if (received.length > 0) pushHeadAtEnd();
      return !socket.destroyed && push(null);
    }
    count(chunk.length);
    if (socket.destroyed) return false;
    if (state === 'body') return readBody(chunk);
    if (state === 'head') return readHead(chunk);
    socket.destroy();
    return false;
  };
  readers.set(socket, {
    expectAnswer() {
      state = 'head';
      interimBytes = 0;
    },
    answerEnded() {
      state = 'idle';
      if (chunks?.isRegular === false) socket.destroy();
    },
  });
  return socket;
}

/** Most answers are one piece, which is not copied. */
function joined(pieces: readonly Buffer[]): Buffer {
  const [first = NOTHING] = pieces;
  return pieces.length > 1 ? Buffer.concat(pieces) : first;
}

/** Returns the offset of the status line, or a negative number. */
function startOfHead(bytes: Buffer): number {
  return bytes.toString('latin1', 0, MAX_BYTES_TO_START).toLowerCase().indexOf('http');
}

/** Returns the offset after the empty line that ends the head, or null. No such line begins before `from`. */
function endOfHead(bytes: Buffer, from: number): number | null {
  for (let lf = bytes.indexOf(LF, from); lf >= 0; lf = bytes.indexOf(LF, lf + 1)) {
    if (bytes[lf + 1] === LF) return lf + 2;
    if (bytes[lf + 1] === CR && bytes[lf + 2] === LF) return lf + 3;
  }
  return null;
}
