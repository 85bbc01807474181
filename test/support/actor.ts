import { type ActorPoolParts, createActorPool } from '../../src/actors/actor-pool.ts';
import type { Actors } from '../../src/actors/actors.ts';
import { CapstanError } from '../../src/capture/errors.ts';
import type { BrowserEvent } from '../../src/capture/events.ts';
import { configOf } from '../../src/config/mod.ts';
import type { BrowsersConfig } from '../../src/config/slices.ts';
import { createTargetPolicy } from '../../src/egress/address-policy.ts';
import { createEgress } from '../../src/egress/create-egress.ts';

export interface RunningActor {
  readonly actor: Actors;
  readonly events: readonly BrowserEvent[];
  readonly warnings: readonly string[];
  /** Resolves with the next event of a type. */
  next(type: BrowserEvent['type']): Promise<BrowserEvent>;
  /** Idempotent. */
  stop(): Promise<void>;
}

/** A real actor with a real browser behind the real egress policy, which allows 127.0.0.1 only. */
export async function startActor(
  overrides: Partial<BrowsersConfig & ActorPoolParts> = {},
  { wait = true } = {},
): Promise<RunningActor> {
  const egress = createEgress({ policy: createTargetPolicy({ allow: ['127.0.0.1'], deny: [] }) });
  const warnings: string[] = [];
  const config = { ...configOf({}, { cores: 1 }), ...overrides };
  const actor = createActorPool(config, { egress, warn: (text) => warnings.push(text), ...overrides });
  const events: BrowserEvent[] = [];
  const waiting = new Set<(event: BrowserEvent) => void>();
  actor.events$.subscribe((event) => {
    events.push(event);
    for (const hear of waiting) hear(event);
  });
  const starting = actor.start();
  if (wait) await starting;
  const stop = async () => {
    await actor.close();
    await egress.close();
  };
  let stopping: Promise<void> | undefined;
  return {
    actor,
    events,
    warnings,
    next: (type) =>
      new Promise((resolve) => {
        const hear = (event: BrowserEvent) => {
          if (event.type !== type) return;
          waiting.delete(hear);
          resolve(event);
        };
        waiting.add(hear);
      }),
    stop: () => {
      stopping ??= stop();
      return stopping;
    },
  };
}

/**
 * Returns the process id of the actor's first browser. Throws when there is none: 0 would address the tests' own
 * process group.
 */
export function pidOf({ actor, warnings }: RunningActor): number {
  const [browser] = actor.stats().browsers;
  if (browser === undefined) throw new Error(`there is no browser: ${JSON.stringify([actor.unavailable, warnings])}`);
  return browser.pid;
}

/** Returns the error of a capture that must fail; rejects when it succeeds, or fails with another class of error. */
export function failureOf(capture: Promise<unknown>): Promise<CapstanError> {
  return capture.then(
    () => Promise.reject(new Error('it was captured')),
    (error: unknown) => (error instanceof CapstanError ? error : Promise.reject(error)),
  );
}

/** A signal that is never aborted. */
export const patience = new AbortController().signal;
