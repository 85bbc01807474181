import type { Histogram } from './histogram.ts';

/** A cluster to simulate. Times are in seconds. */
export interface ClusterModel {
  readonly seed: number;
  /** Independent clients at a mean rate (captures a second), or clients that send a capture after each answer. */
  readonly load: { readonly perSecond: number } | { readonly clients: number };
  readonly apiNodes: number;
  /** Time of an api node for a capture: it works on one at a time. */
  readonly apiSeconds: number;
  readonly streams: number;
  /** Time of a stream for a capture: it works on one at a time. */
  readonly streamSeconds: number;
  /** Workers of all streams together; each belongs to one stream. */
  readonly workers: number;
  readonly slots: number;
  /** Time from the end of a capture until its slot has the next one. */
  readonly turnaroundSeconds: number;
  /** Returns the time of one capture at its worker. */
  readonly serviceSeconds: (random: () => number) => number;
  /** Captures that one stream hands out at most at the same time. */
  readonly maxConcurrent: number;
  /** Captures that wait in one stream at most; others are refused. */
  readonly maxQueue: number;
  /** Share of the workers that are killed within an hour. @default 0 */
  readonly hourlyDeaths?: number;
  /** Time before the measurement, and of the measurement. */
  readonly warmUpSeconds: number;
  readonly seconds: number;
}

export interface Simulated {
  /** Captures that ended within the measured time, a second. */
  readonly perSecond: number;
  readonly refused: number;
  readonly killed: number;
  /** Captures that started again because their worker was killed. */
  readonly restarted: number;
  /** Captures without an outcome at the end: they wait, run, or will be delivered again. */
  readonly open: number;
  /** Captures that ended since the beginning. */
  readonly ended: number;
  readonly arrived: number;
  /** Time from the request to the start, of captures that started within the measured time. */
  readonly wait: Histogram;
  /** Largest number of slots of one stream that were free at the same time. */
  readonly mostFree: number;
  /** Largest number of captures of one stream in flight at the same time. */
  readonly mostInFlight: number;
}
