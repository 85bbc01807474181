import { isAway } from '../failures/store-errors.ts';
import { repeatPass } from './repeated-pass.ts';

interface LeasedWorkOptions {
  /** Takes work from a store, and begins it. */
  readonly takeAll: () => Promise<void>;
  /** Called at each interval, before work is taken. */
  readonly onInterval?: () => void;
  /** Intervals of looking for work, and of lease renewals, in milliseconds. */
  readonly intervalMs: number;
  readonly renewalMs: number;
  /** Called with failures, except those of a store that is away. */
  readonly report: (error: unknown) => void;
}

/** Runs work of a store under leases, which a dead process stops renewing. */
export function createLeasedWork<T>({ takeAll, intervalMs, renewalMs, report, onInterval }: LeasedWorkOptions) {
  const running = new Map<string, T>();
  const endings = new Set<Promise<void>>();
  const failed = (error: unknown): void => {
    if (!isAway(error)) report(error);
  };
  const searches = repeatPass({ run: () => takeAll().catch(failed), onInterval, intervalMs });

  return {
    /** Work under way, by its name. */
    running,
    failed,
    start: searches.start,
    search: (): void => void searches.pass(),
    /** `renew` may reject. `run` resolves with false when no more work is to be taken at once. */
    begin: (name: string, about: T, renew: () => Promise<unknown>, run: () => Promise<unknown>): void => {
      running.set(name, about);
      const renewal = setInterval(() => void renew().catch(() => undefined), renewalMs);
      const work = run()
        .catch(failed)
        .then((end) => {
          clearInterval(renewal);
          running.delete(name);
          endings.delete(work);
          if (end !== false) void searches.pass();
        });
      endings.add(work);
    },
    /** Begins nothing more; resolves when all has ended. */
    stop: async (): Promise<void> => {
      await searches.stop();
      await Promise.all(endings);
    },
  };
}
