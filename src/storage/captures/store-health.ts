import type { CapstanError } from '../../capture/errors.ts';
import { BackgroundPasses } from './background-passes.ts';

/** Whether artifacts can be stored. A failure ends when a probe, or a capture, is stored again. */
export interface StoreHealth {
  /** Why nothing can be stored now. */
  readonly failure: CapstanError | undefined;
  failed(failure: CapstanError): void;
  succeeded(): void;
  stop(): Promise<void>;
}

export interface StoreHealthOptions {
  /** Stores something and removes it; rejects as storing a capture would. */
  readonly probe: () => Promise<void>;
  /** Called once per change, with the failure or `undefined` when it has ended. */
  readonly onChange: (failure: CapstanError | undefined) => void;
}

export function createStoreHealth({ probe, onChange }: StoreHealthOptions): StoreHealth {
  let failure: CapstanError | undefined;

  function set(next: CapstanError | undefined): void {
    const changed = failure?.code !== next?.code;
    failure = next;
    if (changed) onChange(next);
  }

  // Without it, a service that is not ready, and so gets no captures, would never find out that it could store them.
  const probes = new BackgroundPasses(
    async () => {
      await probe();
      set(undefined);
    },
    () => failure !== undefined,
  );

  return {
    get failure() {
      return failure;
    },
    failed: (next) => {
      set(next);
      probes.plan();
    },
    succeeded: () => set(undefined),
    stop: () => probes.stop(),
  };
}
