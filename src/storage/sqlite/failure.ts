import { codeOf } from '../../capture/basics/error-code.ts';
import { errorText } from '../../capture/basics/error-text.ts';
import { CapstanError } from '../../capture/errors.ts';
import { NewerSchemaError } from '../failures/newer-schema-error.ts';
import type { CallFailure } from './protocol.ts';
import { ForeignFileError } from './schema.ts';

/** Primary result codes of SQLite: https://www.sqlite.org/rescode.html */
const SQLITE = {
  PERM: 3,
  BUSY: 5,
  LOCKED: 6,
  NOMEM: 7,
  READONLY: 8,
  IOERR: 10,
  CORRUPT: 11,
  FULL: 13,
  CANTOPEN: 14,
  PROTOCOL: 15,
  SCHEMA: 17,
  NOLFS: 22,
  AUTH: 23,
  NOTADB: 26,
} as const;

/** Codes after which the open file cannot be used any more: it is closed, and opened again with back-off. */
const UNUSABLE: ReadonlySet<number> = new Set([
  SQLITE.PERM,
  SQLITE.READONLY,
  SQLITE.IOERR,
  SQLITE.CORRUPT,
  SQLITE.CANTOPEN,
  SQLITE.PROTOCOL,
  SQLITE.SCHEMA,
  SQLITE.NOLFS,
  SQLITE.AUTH,
  SQLITE.NOTADB,
]);

/** Advice that is reported once, when the file is found to be damaged. */
const WHAT_TO_DO = 'run `capstan db check`, then `capstan db restore` or `capstan db rebuild`';
/** Advice for when the file of an open database is gone. */
export const GONE = 'its file is gone: mount it again, restore a backup, or run `capstan db rebuild`';

/** Codes for a file with wrong content: opening it again does not help. */
const DAMAGED: ReadonlySet<number> = new Set([SQLITE.CORRUPT, SQLITE.NOTADB]);

/** Thrown when the database file is not open. */
export class Unavailable extends Error {
  override readonly name = 'Unavailable';
}

/** Describes an error so that an operator can act on it. Names no path, because clients read it too. */
export function explain(error: unknown): CallFailure {
  const code = resultCode(error);
  const text = errorText(error);
  if (error instanceof CapstanError) {
    return { kind: 'refused', code: error.code, reason: text, retryAfterSeconds: error.retryAfterSeconds };
  }
  if (isRefusal(error)) return { kind: 'unavailable', reason: text };
  if (code === SQLITE.BUSY || code === SQLITE.LOCKED) {
    return { kind: 'unavailable', reason: 'another process holds its lock' };
  }
  if (code === SQLITE.FULL) return { kind: 'unavailable', reason: 'its disk is full' };
  if (isSystemError(error))
    return { kind: 'unavailable', reason: `its file or directory cannot be used (${codeOf(error)})` };
  if (isDamaged(error)) return { kind: 'unavailable', reason: `${text}: ${WHAT_TO_DO}` };
  if (code === SQLITE.NOMEM || isUnusable(error)) return { kind: 'unavailable', reason: text };
  return { kind: 'broken', reason: error instanceof Error ? (error.stack ?? text) : text };
}

function isRefusal(error: unknown): boolean {
  return error instanceof Unavailable || error instanceof ForeignFileError || error instanceof NewerSchemaError;
}

export function isDamaged(error: unknown): boolean {
  const code = resultCode(error);
  return code !== undefined && DAMAGED.has(code);
}

export function isUnusable(error: unknown): boolean {
  const code = resultCode(error);
  return (code !== undefined && UNUSABLE.has(code)) || isSystemError(error);
}

/** Returns the primary result code, which is the low byte of an extended one. */
function resultCode(error: unknown): number | undefined {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number'
    ? error.errcode & 0xff
    : undefined;
}

function isSystemError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error;
}
