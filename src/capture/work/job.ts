/** A single capture, a batch of requests, or the targets of a list. */
export const JOB_KINDS = ['screenshot', 'batch', 'scan'] as const;
export type JobKind = (typeof JOB_KINDS)[number];
