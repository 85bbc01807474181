import { BSON, MongoBulkWriteError, MongoError, MongoInvalidArgumentError, MongoServerError } from 'mongodb';
import { codeOf } from '../../capture/basics/error-code.ts';
import { CapstanError } from '../../capture/errors.ts';

/**
 * Server error codes that mean that our request was wrong: BadValue, FailedToParse, TypeMismatch, documents that are
 * too large, and similar.
 */
const DEFECTS = new Set([2, 9, 14, 40, 59, 72, 10_334, 16_755, 17_419, 17_420]);

/**
 * Converts a driver error to a `CapstanError`. The driver's texts name hosts, so they are only the cause, for the
 * log.
 */
export function mongoFailure(error: unknown): CapstanError {
  if (error instanceof CapstanError) return error;
  return isDefect(error)
    ? new CapstanError('internal', undefined, { cause: error })
    : new CapstanError('database_unavailable', undefined, { cause: error });
}

function isDefect(error: unknown): boolean {
  if (error instanceof MongoServerError) return typeof error.code === 'number' && DEFECTS.has(error.code);
  if (error instanceof MongoInvalidArgumentError || error instanceof BSON.BSONError) return true;
  return !(error instanceof MongoError) && !isOfSocket(error);
}

/** Whether the driver passes on what a socket threw, as it does when the server ended the connection just before a write. */
function isOfSocket(error: unknown): boolean {
  return codeOf(error) === 'EPIPE';
}

const DUPLICATE_KEY = 11_000;

/** Whether a write failed because a document with the same unique key exists. */
export function isDuplicateKey(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === DUPLICATE_KEY;
}

/** Whether documents that already exist are the only reason why a bulk write failed. */
export function isOnlyDuplicates(error: unknown): boolean {
  if (!(error instanceof MongoBulkWriteError) || error.result.getWriteConcernError() !== undefined) return false;
  const errors = [error.writeErrors].flat();
  return errors.length > 0 && errors.every(({ code }) => code === DUPLICATE_KEY);
}
