import type { IncomingMessage } from 'node:http';
import { CapstanError } from '../../capture/errors.ts';

/* Bytes of requests are read as UTF-8 or refused: a letter that is replaced makes another URL, label or condition. */

/** ASCII is a part of UTF-8. */
const CHARSETS = ['utf-8', 'utf8', 'us-ascii'];

/** @throws `unsupported_media_type` when a body is said to be in another charset than UTF-8. */
export function requireUtf8({ headers }: Pick<IncomingMessage, 'headers'>): void {
  const [, charset = 'utf-8'] = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(headers['content-type'] ?? '') ?? [];
  if (CHARSETS.includes(charset.toLowerCase())) return;
  const text = `The body must be UTF-8, not ${JSON.stringify(charset)}, as its Content-Type says.`;
  throw new CapstanError('unsupported_media_type', text);
}

/** Returns the text of bytes without a byte order mark; undefined when they are not UTF-8. */
export function utf8Text(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Returns whether the percent-encoded bytes of a text are UTF-8. A percent sign alone stands for itself. */
export function isEncodedUtf8(text: string): boolean {
  return [...text.matchAll(/(?:%[0-9a-f]{2})+/gi)].every(
    ([run]) => utf8Text(Buffer.from(run.replaceAll('%', ''), 'hex')) !== undefined,
  );
}
