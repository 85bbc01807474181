import { type HostKeys, type HostRange, hostKeys, matchesHost } from '../records/hosts.ts';
import { BY_TIME, type Collections, NEWEST_FIRST } from './collections.ts';

/** Two per cent of the sample are 40 results: enough to distinguish frequent hosts from rare ones. */
const SAMPLED = 2000;
const FRESH_MS = 30_000;

/**
 * The hosts of the newest results. Results of hosts that are frequent among them are found quickly by reading by time.
 */
export interface HostSample {
  /** Returns the share (0 to 1) of the newest results whose host is in one of the ranges; 0 when there are none. */
  share(ranges: readonly HostRange[]): Promise<number>;
}

/** `clock`: milliseconds, of any origin. */
export function createHostSample({ results }: Collections, clock: () => number): HostSample {
  let sample: Promise<readonly HostKeys[]> | undefined;
  let takenAt = 0;

  async function take(): Promise<readonly HostKeys[]> {
    const rows = await results
      .find()
      .hint(BY_TIME)
      .sort(NEWEST_FIRST)
      .limit(SAMPLED)
      .project<{ host: string }>({ _id: 0, host: 1 })
      .toArray();
    return rows.map(({ host }) => hostKeys(host));
  }

  function current(): Promise<readonly HostKeys[]> {
    if (sample === undefined || clock() - takenAt > FRESH_MS) {
      takenAt = clock();
      const last = sample;
      const next = take();
      // Concurrent callers get the previous sample.
      if (last === undefined) sample = next;
      next.then(
        () => {
          sample = next;
        },
        () => {
          sample = last;
        },
      );
    }
    return sample ?? Promise.resolve([]);
  }

  return {
    share: async (ranges) => {
      const hosts = await current();
      if (hosts.length === 0) return 0;
      return hosts.filter((host) => matchesHost(host, ranges)).length / hosts.length;
    },
  };
}
