import type { Readable } from 'node:stream';
import { DataAnswer } from './data-answer.ts';

export interface MessageLimits {
  /** Most bytes of an event. What a page says in its console and sends in its requests stands in them, at any length. */
  readonly eventBytes: number;
  /** Most bytes of an answer, which begins with its `id`: the largest screenshot has some 180 MiB in base64. */
  readonly answerBytes: number;
}

const LIMITS: MessageLimits = { eventBytes: 4 * 1024 * 1024, answerBytes: 256 * 1024 * 1024 };

/** Who takes the messages of a stream, each when its end is seen. */
export interface MessageTaker {
  take(text: string): void;
  /** A message that is longer than it may be, by how it begins. */
  pass?(head: string): void;
  /** Whether the answer of that id is asked for as `takeData` gives it, should it be long. */
  wantsData?(id: number): boolean;
  /** The bytes that the answer of that id has in base64. */
  takeData?(id: number, data: Buffer): void;
}

/** How an answer begins. */
const ANSWER = '{"id":';
/** How one begins whose only member is text in base64: a screenshot. */
const DATA_ANSWER = /^\{"id":(\d+),"result":\{"data":"/;
/** Of a message that is too long: enough to know whose answer it is. */
const HEAD_BYTES = 64;

/**
 * Reads the messages of a stream in which a NUL ends a message. One that spans many chunks is put together once, when
 * its end is seen; a screenshot is decoded as it comes, because to put it together, parse it and decode it then would hold
 * the event loop for 2 ms a megabyte. One that is longer than it may be is never held.
 */
export function readMessages(input: Readable, taker: MessageTaker, limits: MessageLimits = LIMITS): void {
  let parts: Buffer[] = [];
  let data: DataAnswer | undefined;
  let bytes = 0;
  let most = limits.eventBytes;
  let passing = false;

  const begin = (): void => {
    parts = [];
    data = undefined;
    bytes = 0;
    most = limits.eventBytes;
    passing = false;
  };

  const add = (part: Buffer): void => {
    if (passing) return;
    bytes += part.length;
    if (data === undefined) parts.push(part);
    else if (bytes <= most) data.add(part);
    if (bytes <= most) return;
    const head = data?.head ?? headOf(parts);
    if (head.startsWith(ANSWER)) most = limits.answerBytes;
    if (bytes <= most) return;
    begin();
    passing = true;
    taker.pass?.(head);
  };

  /** The beginning of a message whose end is not there yet. */
  const addFirst = (part: Buffer): void => {
    const head = headOf([part]);
    const [start, id] = DATA_ANSWER.exec(head) ?? [];
    if (start !== undefined && taker.wantsData?.(Number(id)) === true) {
      data = new DataAnswer(Number(id), head);
      most = limits.answerBytes;
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
