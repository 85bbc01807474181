import { likeness } from '../capture/options-digest.ts';
import type { CaptureRequest } from '../capture/request.ts';
import type { EgressProxy } from '../egress/egress.ts';
import type { BlankPage } from './direct/open-page.ts';

/** Time without a capture after which a shared page ends, in milliseconds: how long a page can outlive its batch. */
const IDLE_MS = 5_000;

/** A page that a capture has left, and the egress proxy that is its context's only access to the network. */
export interface SharedPage {
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
