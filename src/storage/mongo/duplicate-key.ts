import { MongoBulkWriteError, MongoServerError } from 'mongodb';

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
