import type { CapstanError } from '../../capture/errors.ts';
import { BackgroundPasses } from '../passes/background-passes.ts';

export type StoreHealth = ReturnType<typeof createStoreHealth>;

interface StoreHealthOptions {
  /** Stores a test file and removes it; rejects as storing a capture would. */
  readonly probe: () => Promise<void>;
  /** Called once per change, with the failure or `undefined` when it has ended. */
  readonly onChange: (failure: CapstanError | undefined) => void;
}

/** Whether artifacts can be stored. A failure ends when a probe, or a capture, is stored again. */
export function createStoreHealth({ probe, onChange }: StoreHealthOptions) {
  let failure: CapstanError | undefined;

  function set(next: CapstanError | undefined): void {
    const changed = failure?.code !== next?.code;
    failure = next;
    if (changed) onChange(next);
  }

  // Without probes, a service that gets no captures because it is not ready would never become ready again.
  const probes = new BackgroundPasses(
    async () => {
      await probe();
      set(undefined);
    },
    () => failure !== undefined,
  );

  return {
    /** The reason why nothing can be stored now; undefined when artifacts can be stored. */
    get failure() {
      return failure;
    },
    failed: (next: CapstanError): void => {
      set(next);
      probes.plan();
    },
    succeeded: () => set(undefined),
    stop: () => probes.stop(),
  };
}
