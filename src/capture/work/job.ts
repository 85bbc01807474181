/** A single capture, a batch of requests, or the targets of a list. */
export const JOB_KINDS = ['screenshot', 'batch', 'scan'] as const;
export type JobKind = (typeof JOB_KINDS)[number];

/** A job's id: a fingerprint of its API key, if it has one, and a UUID. */
export const JOB_ID = /^(?:[\da-f]{16}\.)?[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
