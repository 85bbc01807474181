import { afterAll, beforeAll } from 'vitest';
import type { ServiceConfig } from '../../src/config/slices.ts';
import { type Site, startSite } from '../fixtures/site.ts';
import { type RunningActor, startActor } from './actor.ts';
import type { HttpOverrides } from './serve.ts';
import { type RunningService, startService } from './service.ts';

/*
 * Provides a resource from before a suite's first test until after its last one. Resources are started in the order of
 * the calls and stopped in reverse.
 */

/** Returns a stand-in for the resource, which tests may use from the first one on. */
export function forSuite<T extends object>(start: () => Promise<T>, stop: (running: T) => Promise<unknown>): T {
  let running: T | undefined;
  beforeAll(async () => {
    running = await start();
  });
  afterAll(async () => {
    if (running !== undefined) await stop(running);
  });
  return new Proxy<T>(Object.create(null), {
    get: (_, name) => {
      if (running === undefined) throw new Error('it is there from the first test on');
      const member: unknown = Reflect.get(running, name);
      return typeof member === 'function' ? member.bind(running) : member;
    },
    // An assignment throws: it would be lost.
    set: () => false,
  });
}

export function siteForSuite(): Site {
  return forSuite(startSite, (site) => site.close());
}

export function actorForSuite(overrides: Parameters<typeof startActor>[0] = {}): RunningActor {
  return forSuite(
    () => startActor(overrides),
    ({ stop }) => stop(),
  );
}

/** `config` may be a function, for values that are known when the suite runs. */
export function serviceForSuite(
  config: Partial<ServiceConfig> | (() => Partial<ServiceConfig>) = {},
  http: HttpOverrides = {},
): RunningService {
  return forSuite(
    () => startService(typeof config === 'function' ? config() : config, http),
    ({ stop }) => stop(),
  );
}
