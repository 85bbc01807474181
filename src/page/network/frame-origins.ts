import { within } from '../../capture/deadline.ts';
import type { PageSession } from '../frames/page-session.ts';

/**
 * Time limit for the event that announces a new document, in milliseconds. The event can come a few milliseconds after
 * the document's first requests.
 */
const LATE_NEWS_MS = 1_000;

/** Tracks the origin of the document in each frame of a page. Created before anything happens in the page. */
export class FrameOrigins {
  readonly #shown = new Map<string, string>();
  /** Frames that may already show another document. */
  readonly #moving = new Set<string>();
  #waiting: (() => void)[] = [];

  constructor(session: PageSession) {
    session.on('Page.frameStartedNavigating', ({ frameId, navigationType }) => {
      if (!navigationType.endsWith('SameDocument')) this.#moving.add(frameId);
    });
    session.on('Page.frameNavigated', ({ frame }) => {
      this.#shown.set(frame.id, frame.securityOrigin);
      this.#rest(frame.id);
    });
    // This event also follows a navigation that led to no document.
    session.on('Page.frameStoppedLoading', ({ frameId }) => this.#rest(frameId));
  }

  /** Resolves with undefined when no event of the frame arrives in time. */
  async originOf(frameId: string): Promise<string | undefined> {
    if (!this.#isKnown(frameId)) await within(LATE_NEWS_MS, this.#untilKnown(frameId), undefined);
    return this.#isKnown(frameId) ? this.#shown.get(frameId) : undefined;
  }

  #isKnown(frameId: string): boolean {
    return this.#shown.has(frameId) && !this.#moving.has(frameId);
  }

  async #untilKnown(frameId: string): Promise<void> {
    while (!this.#isKnown(frameId)) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #rest(frameId: string): void {
    this.#moving.delete(frameId);
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resume of waiting) resume();
  }
}
