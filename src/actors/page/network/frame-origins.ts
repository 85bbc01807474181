import { within } from '../../deadline.ts';
import type { PageSession } from '../isolated-page.ts';

/** Longest wait for the news of a document that asks for something already. It is a few milliseconds late, at times. */
const LATE_NEWS_MS = 1_000;

/** Which origin the document in each frame of a page is of. Made before anything happens in the page. */
export class FrameOrigins {
  readonly #shown = new Map<string, string>();
  /** Frames that may show another document already. */
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
    // Also of a navigation that came to no document.
    session.on('Page.frameStoppedLoading', ({ frameId }) => this.#rest(frameId));
  }

  /** Undefined when nothing is heard of the frame in time. */
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
