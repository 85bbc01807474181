import type { Readable } from 'node:stream';
import { DataAnswer, type DataEncoding } from './data-answer.ts';

interface MessageLimits {
  /** Maximum size of an event, in bytes. Events contain console messages and request bodies of any length. */
  readonly eventBytes: number;
  /**
   * Maximum size of an answer, which begins with its `id`, in bytes: the largest screenshot has about 180 MiB of
   * base64.
   */
  readonly answerBytes: number;
}

const LIMITS: MessageLimits = { eventBytes: 4 * 1024 * 1024, answerBytes: 256 * 1024 * 1024 };

/** Maximum size of an archive with its escapes, in bytes. Joining the parts of a larger one would take over 50 ms. */
const ARCHIVE_BYTES = 80 * 1024 * 1024;

/** Receives the messages of a stream, each when it is complete. */
interface MessageTaker {
  take(text: string): void;
  /** Receives the beginning of a message over the size limit. */
  pass?(head: string): void;
  /** Returns whether an answer is limited to the size of an event. */
  isShort?(id: number): boolean;
  /** Returns the encoding of a long answer that is passed to `takeData`; undefined for one that is not. */
  wantsData?(id: number): DataEncoding | undefined;
  /** Receives the decoded bytes of an answer. */
  takeData?(id: number, data: Buffer): void;
}

/** The beginning of an answer. */
const ANSWER = '{"id":';
/** The beginning of an answer whose only member is text: a screenshot, or an archive of the page. */
const DATA_ANSWER = /^\{"id":(\d+),"result":\{"data":"/;
/** Bytes kept of a message over the limit: enough to identify the command. */
const HEAD_BYTES = 64;

/**
 * Reads messages separated by NUL from a stream. A message in many chunks is joined once, when it is complete. A
 * screenshot is decoded as it arrives, because joining, parsing and decoding it at the end would block the event loop
 * for 2 ms per megabyte. A message over the size limit is never held in memory.
 */
export function readMessages(input: Readable, taker: MessageTaker, limits: MessageLimits = LIMITS): void {
  let parts: Buffer[] = [];
  let data: DataAnswer | undefined;
  let bytes = 0;
  let maxBytes = limits.eventBytes;
  let passing = false;

  const begin = (): void => {
    parts = [];
    data = undefined;
    bytes = 0;
    maxBytes = limits.eventBytes;
    passing = false;
  };

  const add = (part: Buffer): void => {
    if (passing) return;
    bytes += part.length;
    if (data === undefined) parts.push(part);
    else if (bytes <= maxBytes) data.add(part);
    if (bytes <= maxBytes) return;
    const head = data?.head ?? headOf(parts);
    if (
      data === undefined &&
      head.startsWith(ANSWER) &&
      taker.isShort?.(Number.parseInt(head.slice(ANSWER.length), 10)) !== true
    ) {
      maxBytes = limits.answerBytes;
    }
    if (bytes <= maxBytes) return;
    begin();
    passing = true;
    taker.pass?.(head);
  };

  /** The beginning of an incomplete message. */
  const addFirst = (part: Buffer): void => {
    const head = headOf([part]);
    const [start, id] = DATA_ANSWER.exec(head) ?? [];
    const encoding = start === undefined ? undefined : taker.wantsData?.(Number(id));
    if (start !== undefined && encoding !== undefined) {
      data = new DataAnswer(Number(id), head, encoding);
      maxBytes = encoding === 'latin1' ? Math.min(ARCHIVE_BYTES, limits.answerBytes) : limits.answerBytes;
      bytes = start.length;
      add(part.subarray(start.length));
    } else {
      add(part);
    }
  };

  input.on('data', (chunk: Buffer) => {
    let start = 0;
    for (let end = chunk.indexOf(0); end !== -1; end = chunk.indexOf(0, start)) {
      add(chunk.subarray(start, end));
      start = end + 1;
      const isWhole = !passing;
      const [text, answer] = [parts, data];
      begin();
      if (answer !== undefined) taker.takeData?.(answer.id, answer.end());
      else if (isWhole) taker.take(Buffer.concat(text).toString('utf8'));
    }
    if (start === chunk.length) return;
    const rest = chunk.subarray(start);
    if (bytes === 0 && !passing) addFirst(rest);
    else add(rest);
  });
}

function headOf(parts: readonly Buffer[]): string {
  return Buffer.concat(parts.slice(0, HEAD_BYTES)).toString('latin1', 0, HEAD_BYTES);
}
