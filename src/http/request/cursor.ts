import { z } from 'zod';
import type { LetterPlace } from '../../storage/ports/delivery-store.ts';
import type { Keyset } from '../../storage/ports/result-store.ts';

/*
 * A cursor is the position where the next page begins: a keyset as JSON in base64url. It is opaque to clients, which
 * take it from `Link: rel="next"`.
 */

const captureId = z.int().positive();
const KeysetParts = z.tuple([z.iso.datetime({ precision: 3 }), captureId]);

export function keysetCursor({ probedAt, id }: Keyset): string {
  return encode([probedAt, id]);
}

/** Returns undefined when the text is not a cursor of this service. */
export function readKeysetCursor(cursor: string): Keyset | undefined {
  const parts = KeysetParts.safeParse(decode(cursor));
  return parts.success ? { probedAt: parts.data[0], id: parts.data[1] } : undefined;
}

/** The cursor of lists that are ordered by id alone. */
export function idCursor(id: number): string {
  return encode(id);
}

export function readIdCursor(cursor: string): number | undefined {
  const id = captureId.safeParse(decode(cursor));
  return id.success ? id.data : undefined;
}

const LetterParts = z.tuple([z.int().nonnegative(), z.string()]);

/** The cursor of dead letters, of which several may have one position. */
export function letterCursor({ position, id }: LetterPlace): string {
  return encode([position, id]);
}

export function readLetterCursor(cursor: string): LetterPlace | undefined {
  const parts = LetterParts.safeParse(decode(cursor));
  return parts.success ? { position: parts.data[0], id: parts.data[1] } : undefined;
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value), 'utf8').toString('base64url');
}

function decode(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}
