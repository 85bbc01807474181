import { createHook } from 'node:async_hooks';
import { readdirSync, readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { CaptureService } from '../../src/service/create-service.ts';
import { browserCensus } from './census.ts';

/** What ought to be after each wave as it was before. */
export type Reading = Readonly<Record<string, number>>;

export interface ObservedService {
  readonly service: CaptureService;
  readonly dataDir: string;
  /** Where the browsers have their profiles. */
  readonly temporary: string;
  /** Process ids of all browsers that were launched. */
  readonly families: ReadonlySet<number>;
  readonly timers: LiveTimers;
}

/** Timers that are set, those that keep no process alive included: Node does not tell of them otherwise. */
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

/** Everything that is open, counted. What can only be seen through something that is opened for it comes first. */
export async function read({ service, dataDir, temporary, families, timers }: ObservedService): Promise<Reading> {
  const browsers = await browserCensus(temporary);
  // The hooks tell of what was destroyed a turn later.
  await delay(20);
  const { captures, queue, pool, store } = service.stats();
  const resources = process.getActiveResourcesInfo();
  const ofType = (type: string) => resources.filter((name) => name === type).length;
  return {
    'captures inside': captures.inside + queue.running + queue.queued + pool.busy,
    'records that wait': store.outbox,
    'files under way': await filesUnderWay(dataDir),
    'browser contexts': browsers.contexts,
    pages: browsers.pages,
    browsers: pool.browsers.length,
    'profile directories': browsers.profiles,
    'browser processes': familyProcesses(families),
    'child processes': ofType('ProcessWrap'),
    sockets: ofType('TCPSocketWrap'),
    'listening sockets (lanes)': ofType('TCPServerWrap'),
    pipes: ofType('PipeWrap'),
    timers: timers.count,
    'listeners of the process': process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0),
    'file descriptors': readdirSync('/proc/self/fd').length,
  };
}

/** MiB that JavaScript holds after a full collection, buffers outside of the heap included. */
export async function heapMiB(): Promise<number> {
  if (globalThis.gc === undefined) throw new Error('the soak needs --expose-gc');
  // What is finalized by the first is let go by the second.
  for (let round = 0; round < 2; round += 1) {
    globalThis.gc();
    await delay(10);
  }
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 2 ** 20;
}

/** What is above its base line. */
export function above(base: Reading, now: Reading, slack: Reading = {}): readonly string[] {
  return Object.entries(now)
    .filter(([name, value]) => !(value <= (base[name] ?? 0) + (slack[name] ?? 0)))
    .map(([name, value]) => `${name}: ${value}, not ${base[name]}`);
}

/** Staged captures and drafts of records: nothing when no capture is inside. */
async function filesUnderWay(dataDir: string): Promise<number> {
  const workspaces = join(dataDir, 'workspaces');
  const names = await readdir(workspaces);
  const staged = await Promise.all(names.map((name) => readdir(join(workspaces, name, 'staging'))));
  return staged.flat().length;
}

/** Of the browsers that ever were: a browser leads a group that its children cannot leave, though it may end first. */
export function familyProcesses(browsers: ReadonlySet<number>): number {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && browsers.has(groupOf(name))).length;
}

function groupOf(pid: string): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name stands in parentheses and may hold anything; state, parent and group follow the last one.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2]);
  } catch {
    return Number.NaN;
  }
}
