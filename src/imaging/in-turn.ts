import pLimit from 'p-limit';

/**
 * Maximum number of images that the process reads or makes at once. Each takes one of libuv's four threads, and the
 * fourth is for files: a store that waits for several joins of bands would hold up every other capture.
 */
const MAX_AT_ONCE = 3;

/** Runs work of sharp when it is its turn: the one that came first goes first. */
export const inTurn = pLimit(MAX_AT_ONCE);
