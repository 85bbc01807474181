import { BSON, MongoError, MongoInvalidArgumentError, MongoServerError } from 'mongodb';
import { CapstanError } from '../../capture/errors.ts';

/** Answers of the server that say that what we asked was wrong: BadValue, FailedToParse, TypeMismatch and the like. */
const DEFECTS = new Set([2, 9, 14, 40, 59, 72, 10_334, 16_755]);

/** Whatever the driver threw, as what our callers know. Its texts name hosts: they are the cause, for the log. */
export function mongoFailure(error: unknown): CapstanError {
  if (error instanceof CapstanError) return error;
  return isDefect(error)
    ? new CapstanError('internal', undefined, { cause: error })
    : new CapstanError('database_unavailable', undefined, { cause: error });
}

function isDefect(error: unknown): boolean {
  if (error instanceof MongoServerError) return typeof error.code === 'number' && DEFECTS.has(error.code);
  if (error instanceof MongoInvalidArgumentError || error instanceof BSON.BSONError) return true;
  return !(error instanceof MongoError);
}

/** What an operator can do something about. The driver's errors hold no credentials; their texts are all we take. */
export function explain(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
