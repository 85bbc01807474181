import { Transform } from 'node:stream';
import { INVALID_REQUEST, PARSE_ERROR, parseJSONRPCMessage } from '@modelcontextprotocol/server';
import { TOO_LONG, tooLongIn } from './message-limits.ts';
import { withoutNullParams } from './null-params.ts';

const LF = 0x0a;
/** The SDK ends the connection past this size of a message. */
const MAX_BYTES = 10 * 1024 * 1024;

/**
 * Passes the lines on that are messages. The SDK does not answer others, and a client would wait for ever: they are
 * answered by `answer` with an error of JSON-RPC.
 */
export function messageLines(answer: (error: object) => void): Transform {
  let held: Buffer = Buffer.alloc(0);
  const take = (lines: Transform, line: Buffer): void => {
    const read = readLine(line);
    if ('line' in read) lines.push(Buffer.concat([read.line, Buffer.of(LF)]));
    else answer({ jsonrpc: '2.0', id: null, error: read });
  };
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      let from = 0;
      for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, from)) {
        take(this, Buffer.concat([held, chunk.subarray(from, end)]));
        held = Buffer.alloc(0);
        from = end + 1;
      }
      held = Buffer.concat([held, chunk.subarray(from)]);
      if (held.length > MAX_BYTES) {
        this.push(held);
        held = Buffer.alloc(0);
      }
      done();
    },
  });
}

type Read = { readonly line: Buffer } | { readonly code: number; readonly message: string };

/** Returns the line to pass on, which is blank or a message, or the error that answers it. */
function readLine(line: Buffer): Read {
  let message: unknown;
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(line);
    if (text.trim() === '') return { line };
    message = JSON.parse(text);
  } catch {
    return { code: PARSE_ERROR, message: 'The line is not JSON in UTF-8.' };
  }
  if (Array.isArray(message)) {
    return { code: INVALID_REQUEST, message: 'Batches are not accepted: send each message on a line of its own.' };
  }
  const kept = withoutNullParams(message);
  try {
    parseJSONRPCMessage(kept);
  } catch {
    return { code: INVALID_REQUEST, message: 'The line is not a message of JSON-RPC 2.0.' };
  }
  const path = tooLongIn(message);
  // `text` is without a byte order mark, which the SDK does not read.
  if (path === undefined) return { line: Buffer.from(kept === message ? text : JSON.stringify(kept)) };
  return { code: INVALID_REQUEST, message: `${path.join('.')} ${TOO_LONG}.` };
}
