import type { Deadline } from '../capture/deadline.ts';
import { likeness } from '../capture/options/options-digest.ts';
import type { CaptureRequest } from '../capture/request.ts';
import type { EgressProxy } from '../egress/egress.ts';
import type { BrowserHost } from './browser-host.ts';
import type { BlankPage, Sharing } from './direct/leave-page.ts';
import { type OpenPage, openPage } from './direct/open-page.ts';

/** Time without a capture after which a shared page ends, in milliseconds: how long a page can outlive its batch. */
const IDLE_MS = 5_000;

/** A page that a capture has left, and the egress proxy that is its context's only access to the network. */
interface SharedPage {
  readonly page: BlankPage;
  readonly egressProxy: EgressProxy;
}

/** A page that waits for another capture of its group. `leaving` resolves with undefined when it was disposed of. */
interface Waiting {
  readonly group: string;
  readonly leaving: Promise<SharedPage | undefined>;
  readonly timer: NodeJS.Timeout;
}

/** Pages that captures have left open for others of their group. Each serves one capture at a time. */
export class SharedPages {
  readonly #waiting = new Set<Waiting>();
  #limit: number;

  /** `limit`: maximum number of pages that wait. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Returns a page of the group, which the caller must dispose of or put back. */
  async take(group: string): Promise<SharedPage | undefined> {
    const found = [...this.#waiting].find((one) => one.group === group);
    if (found === undefined) return undefined;
    this.#remove(found);
    return await found.leaving;
  }

  /** Keeps a page for the next capture of its group. The page that has waited longest ends when there are too many. */
  put(group: string, leaving: Promise<SharedPage | undefined>): void {
    const waiting: Waiting = { group, leaving, timer: setTimeout(() => void this.#end(waiting), IDLE_MS).unref() };
    this.#waiting.add(waiting);
    this.setLimit(this.#limit);
  }

  setLimit(limit: number): void {
    this.#limit = limit;
    const surplus = [...this.#waiting].slice(0, Math.max(0, this.#waiting.size - limit));
    for (const waiting of surplus) void this.#end(waiting);
  }

  /** Ends all pages, including those that are put back later. */
  async close(): Promise<void> {
    this.#limit = 0;
    await Promise.all([...this.#waiting].map((waiting) => this.#end(waiting)));
  }

  async #end(waiting: Waiting): Promise<void> {
    this.#remove(waiting);
    const shared = await waiting.leaving;
    await Promise.all([shared?.page.dispose(), shared?.egressProxy.close()]);
  }

  #remove(waiting: Waiting): void {
    clearTimeout(waiting.timer);
    this.#waiting.delete(waiting);
  }
}

/**
 * Returns a key that is equal for captures that may share a page: those of one batch, and so of one API key, whose URLs
 * have the same origin and whose other options are equal. Undefined for a capture that shares no page.
 */
export function groupOf(request: CaptureRequest, batch: string | null): string | undefined {
  if (request.isolation !== 'batch' || batch === null) return undefined;
  return JSON.stringify([batch, request.target.parsed.origin, likeness(request)]);
}

/** The egress proxy of an actor. It goes with the page, whose context can use only this one. */
interface ProxyOfActor {
  /** Replaces the proxy by that of the page. */
  use(egressProxy: EgressProxy): void;
  /** Returns the proxy, which the actor does not use any more. */
  giveUp(): Promise<EgressProxy>;
}

/**
 * Takes a page of the group. Returns the browser that has it, and the function that opens it there, or a new page
 * elsewhere; the capture on it then leaves it for the group.
 */
export async function takePage(
  pages: SharedPages,
  group: string,
  deadline: Deadline,
  proxy: ProxyOfActor,
): Promise<{
  readonly wanted: BrowserHost | undefined;
  readonly open: OpenPage;
  /** Disposes of the page when its browser could not be leased. */
  readonly disposeUnused: () => Promise<void>;
}> {
  const taking = pages.take(group);
  const shared = await deadline.step('wait for a shared page', taking).catch((error: unknown) => {
    pages.put(group, taking);
    throw error;
  });
  let left = shared?.page;
  if (shared !== undefined) proxy.use(shared.egressProxy);
  const keep: Sharing['keep'] = async (leave) => {
    const egressProxy = await proxy.giveUp();
    egressProxy.end();
    const waiting = leave((request) => untilSilent(egressProxy, request)).then(async (page) => {
      if (page !== undefined) return { page, egressProxy };
      await egressProxy.close();
      return undefined;
    });
    pages.put(group, waiting);
    await waiting;
  };
  return {
    wanted: left?.host,
    open: (host, ...others) => {
      const page = left?.host === host ? left : undefined;
      if (page !== undefined) left = undefined;
      return openPage(host, ...others, { page, keep });
    },
    disposeUnused: async () => left?.dispose(),
  };
}

/** Number of requests of our own in a row during which no other connection may come. */
const SILENT_ROUNDS = 2;

/**
 * See `Silence`. Beacons and other requests that outlive their document wait for a connection, and each connection that
 * is closed lets the next one try. `request` connects once, after those that wait.
 */
async function untilSilent(egressProxy: EgressProxy, request: () => Promise<unknown>): Promise<void> {
  for (let silent = 0; silent < SILENT_ROUNDS; ) {
    const before = egressProxy.refused;
    await request();
    silent = egressProxy.refused - before > 1 ? 0 : silent + 1;
  }
}
