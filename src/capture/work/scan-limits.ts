// No schemas here: see `errors.ts`.

/** Maximum number of targets of one scan: a network of 12 fixed bits. */
export const MAX_SCAN_TARGETS = 1_048_576;
