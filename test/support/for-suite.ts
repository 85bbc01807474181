import { afterAll, beforeAll } from 'vitest';
import type { HttpOptions } from '../../src/http/app.ts';
import type { ServiceConfig } from '../../src/service/service-config.ts';
import { type Site, startSite } from '../fixtures/site.ts';
import { type RunningActor, startActor } from './actor.ts';
import { type RunningService, startService } from './service.ts';

/*
 * Provides a resource from before a suite's first test until after its last one. Resources are started in the order of
 * the calls and stopped in reverse.
 */

/** Returns the function that tests call for the resource, from the first test on. */
function forSuite<T>(start: () => Promise<T>, stop: (running: T) => Promise<void>): () => T {
  let running: T | undefined;
  const told = (): T => {
    if (running === undefined) throw new Error('it is there from the first test on');
    return running;
  };
  beforeAll(async () => {
    running = await start();
  });
  afterAll(async () => {
    if (running !== undefined) await stop(running);
  });
  return told;
}

export function siteForSuite(): Site {
  const site = forSuite(startSite, (site) => site.close());
  return {
    get origin() {
      return site().origin;
    },
    get host() {
      return site().host;
    },
    get port() {
      return site().port;
    },
    get requests() {
      return site().requests;
    },
    url: (path) => site().url(path),
    hits: (path) => site().hits(path),
    close: () => site().close(),
  };
}

export function actorForSuite(overrides: Parameters<typeof startActor>[0] = {}): RunningActor {
  const running = forSuite(
    () => startActor(overrides),
    ({ stop }) => stop(),
  );
  return {
    get actor() {
      return running().actor;
    },
    get events() {
      return running().events;
    },
    get warnings() {
      return running().warnings;
    },
    next: (type) => running().next(type),
    stop: () => running().stop(),
  };
}

/** `config` may be a function, for values that are known when the suite runs. */
export function serviceForSuite(
  config: Partial<ServiceConfig> | (() => Partial<ServiceConfig>) = {},
  http: Partial<HttpOptions> = {},
): RunningService {
  const running = forSuite(
    () => startService(typeof config === 'function' ? config() : config, http),
    ({ stop }) => stop(),
  );
  return {
    get service() {
      return running().service;
    },
    get baseUrl() {
      return running().baseUrl;
    },
    get directory() {
      return running().directory;
    },
    call: (path, init) => running().call(path, init),
    post: (path, body, init) => running().post(path, body, init),
    loseDatabase: () => running().loseDatabase(),
    stop: () => running().stop(),
  };
}
