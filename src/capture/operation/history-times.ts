/** Time of which samples of the load are kept, and between two samples, in milliseconds. */
export const HISTORY_MS = 3_600_000;
export const SAMPLE_MS = 5_000;
