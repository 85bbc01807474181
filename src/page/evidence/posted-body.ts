import { isUtf8 } from 'node:buffer';
import type { Protocol } from 'devtools-protocol';
import type { PostData } from 'har-format';
import { bounded } from '../../capture/basics/bounded.ts';
import type { CaptureRequest } from '../../capture/request.ts';
import type { BodyReader } from './body-reader.ts';
import { headerOf } from './header-of.ts';
import { MAX_POSTED_BYTES } from './network-buffers.ts';

const MAX_WORD_CHARACTERS = 256;

const TOO_LARGE = `left out: a file, or larger than ${MAX_POSTED_BYTES} bytes`;
const NOT_TEXT = 'left out: not UTF-8';
const WITHHELD = 'left out: the capture typed into the page';

/** Returns whether the capture types into the page. The text may be a password, which the page then sends. */
export function types({ form, actions = [] }: Pick<CaptureRequest, 'form' | 'actions'>): boolean {
  return form !== undefined || actions.some(({ type }) => ['type', 'press', 'select'].includes(type));
}

/** Returns the body of a request; undefined when it has none. */
export function postedBody(
  { hasPostData, postDataEntries = [], headers }: Protocol.Network.Request,
  bodies: BodyReader,
  isWithheld: boolean,
): PostData | undefined {
  if (hasPostData !== true) return undefined;
  const mimeType = bounded(headerOf(headers, 'content-type') ?? '', MAX_WORD_CHARACTERS);
  const without = (comment: string): PostData => ({ mimeType, text: '', comment });
  const cut = (comment: string): PostData => {
    bodies.without(comment);
    return without(comment);
  };
  if (isWithheld) return without(WITHHELD);
  // The browser reports no body above the limit, and no part that is a file.
  const parts = postDataEntries.flatMap(({ bytes }) => (bytes === undefined ? [] : [Buffer.from(bytes, 'base64')]));
  if (parts.length === 0 || parts.length < postDataEntries.length) return cut(TOO_LARGE);
  const body = Buffer.concat(parts);
  if (!isUtf8(body)) return without(NOT_TEXT);
  return bodies.take(body.byteLength) ? { mimeType, text: body.toString() } : cut(bodies.noRoom);
}
