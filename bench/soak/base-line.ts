import { createHook } from 'node:async_hooks';
import { readdirSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { processStat } from '../../src/actors/checks/process-stat.ts';
import type { CaptureService } from '../../src/service/create-service.ts';
import { browserCensus } from './census.ts';

/** Counts that must return to their base line after each wave, by name. */
export type Reading = Readonly<Record<string, number>>;

export interface ObservedService {
  readonly service: CaptureService;
  readonly dataDir: string;
  /** Directory of the browser profiles. */
  readonly temporary: string;
  /** Process ids of all browsers launched so far. */
  readonly families: ReadonlySet<number>;
  readonly timers: LiveTimers;
}

/** Timers that are set, including unreferenced ones, which `getActiveResourcesInfo` does not list. */
export interface LiveTimers {
  readonly count: number;
}

export function watchTimers(): LiveTimers {
  const live = new Set<number>();
  createHook({
    init: (id, type) => {
      if (type === 'Timeout') live.add(id);
    },
    destroy: (id) => {
      live.delete(id);
    },
  }).enable();
  return {
    get count() {
      return live.size;
    },
  };
}

/** Counts all open resources. The browser census comes first, because it opens connections itself. */
export async function read({ service, dataDir, temporary, families, timers }: ObservedService): Promise<Reading> {
  const browsers = await browserCensus(temporary);
  // Async hooks report destroyed resources one turn later.
  await delay(20);
  const { captures, queue, pool, store } = service.stats();
  const resources = process.getActiveResourcesInfo();
  const ofType = (type: string) => resources.filter((name) => name === type).length;
  return {
    'captures inside': captures.inside + queue.running + queue.queued + pool.busy,
    'records in the outbox': store.outbox,
    'staged files': await stagedFiles(dataDir),
    'browser contexts': browsers.contexts,
    pages: browsers.pages,
    browsers: pool.browsers.length,
    'profile directories': browsers.profiles,
    'browser processes': await familyProcesses(families),
    'child processes': ofType('ProcessWrap'),
    sockets: ofType('TCPSocketWrap'),
    'listening sockets (egress proxies)': ofType('TCPServerWrap'),
    pipes: ofType('PipeWrap'),
    timers: timers.count,
    'listeners of the process': process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0),
    'file descriptors': readdirSync('/proc/self/fd').length,
  };
}

/** Returns the MiB that JavaScript holds after a full collection, including buffers outside the heap. */
export async function heapMiB(): Promise<number> {
  if (globalThis.gc === undefined) throw new Error('the soak needs --expose-gc');
  // The second collection frees what the first one finalized.
  for (let round = 0; round < 2; round += 1) {
    globalThis.gc();
    await delay(10);
  }
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 2 ** 20;
}

/** Describes each count that is above its base line. */
export function above(base: Reading, now: Reading, slack: Reading = {}): readonly string[] {
  return Object.entries(now)
    .filter(([name, value]) => !(value <= (base[name] ?? 0) + (slack[name] ?? 0)))
    .map(([name, value]) => `${name}: ${value}, not ${base[name]}`);
}

/** Counts staged captures; 0 when no capture is in progress. */
async function stagedFiles(dataDir: string): Promise<number> {
  const workspaces = join(dataDir, 'workspaces');
  const names = await readdir(workspaces);
  const staged = await Promise.all(names.map((name) => readdir(join(workspaces, name, 'staging'))));
  return staged.flat().length;
}

/** Counts processes in the groups of all browsers launched so far; children stay in the group when the browser ends. */
export async function familyProcesses(browsers: ReadonlySet<number>): Promise<number> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const stats = await Promise.all(pids.map(processStat));
  return stats.filter((stat) => stat !== undefined && browsers.has(stat.group)).length;
}
