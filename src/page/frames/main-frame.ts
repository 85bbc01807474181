import type { Protocol } from 'devtools-protocol';
import { CdpClosedError } from '../../cdp/connection.ts';
import type { PageSession } from './page-session.ts';

/** A refresh scheduled for later than this counts as part of the page, not as a redirect. */
const REDIRECT_DELAY_SECONDS = 1;

/** The page's renderer crashed. The capture may be retried once. */
export class PageCrashedError extends Error {
  override readonly name = 'PageCrashedError';
}

/** Milestones of a document, named after lifecycle events. `networkIdle`: no request for half a second. */
export type Milestone = 'DOMContentLoaded' | 'load' | 'networkIdle';

/**
 * State of a page's main frame: which document it shows, how far that has loaded, and whether another one is coming.
 */
export class MainFrame {
  readonly id: string;
  #document: Protocol.Page.Frame | null = null;
  readonly #shown = new Set<string>();
  #reached = new Set<string>();
  /** Frames whose document still has requests in flight; frames of other processes are not included. */
  readonly #asking = new Set<string>();
  /** Frames of the page that wait for their next document; the current one, possibly empty, may be idle. */
  readonly #awaiting = new Set<string>();
  #response = { loaderId: '', status: 0, protocol: '' };
  #coming: string | null = null;
  #stopped: string | null = null;
  #scheduled = false;
  #crashed = false;
  #failure: Error | null = null;
  #gone = false;
  #changed: (() => void)[] = [];

  constructor(session: PageSession, id: string) {
    this.id = id;
    session.on('Page.frameNavigated', ({ frame }) => {
      if (frame.id !== id) {
        if (this.#awaiting.delete(frame.id)) this.#tell();
        return;
      }
      this.#document = frame;
      this.#shown.add(frame.loaderId);
      this.#asking.clear();
      this.#awaiting.clear();
      if (this.#coming === frame.loaderId) this.#coming = null;
      this.#tell();
    });
    session.on('Page.lifecycleEvent', ({ frameId, loaderId, name }) => {
      if (frameId === id) this.#reached.add(`${loaderId} ${name}`);
      else if (name === 'init') this.#asking.add(frameId);
      else if (name !== 'networkIdle' || !this.#asking.delete(frameId)) return;
      this.#tell();
    });
    session.on('Page.frameDetached', ({ frameId }) => {
      this.#asking.delete(frameId);
      this.#awaiting.delete(frameId);
      this.#tell();
    });
    session.on('Page.frameScheduledNavigation', ({ frameId, delay }) => {
      if (frameId === id && delay <= REDIRECT_DELAY_SECONDS) this.#scheduled = true;
    });
    session.on('Page.frameClearedScheduledNavigation', ({ frameId }) => {
      if (frameId !== id) return;
      this.#scheduled = false;
      this.#tell();
    });
    session.on('Page.frameStartedNavigating', ({ frameId, loaderId, navigationType }) => {
      if (navigationType.endsWith('SameDocument')) return;
      if (frameId !== id) {
        this.#awaiting.add(frameId);
        return;
      }
      this.#coming = loaderId;
      // The scheduled navigation has started. Its cancellation is not always reported.
      this.#scheduled = false;
    });
    session.on('Network.responseReceived', ({ type, frameId, loaderId, response }) => {
      if (type !== 'Document' || frameId !== id) return;
      this.#response = { loaderId, status: response.status, protocol: response.protocol ?? '' };
    });
    session.on('Page.frameStoppedLoading', ({ frameId }) => {
      if (frameId !== id) {
        if (this.#awaiting.delete(frameId)) this.#tell();
        return;
      }
      // A navigation that ended without a document: a download, or 204.
      this.#coming = null;
      // That navigation may have stopped the loading of the current document, whose load event then never fires.
      this.#stopped = this.#document?.loaderId ?? null;
      this.#tell();
    });
    session.on('Inspector.targetCrashed', () => {
      this.#crashed = true;
      this.#tell();
    });
    session.on('Inspector.detached', () => {
      this.#gone = true;
      this.#tell();
    });
  }

  /** The current document; null before the first one. */
  get document(): Protocol.Page.Frame | null {
    return this.#document;
  }

  /** Returns whether the frame has shown the document of a navigation. */
  hasShown(loaderId: string): boolean {
    return this.#shown.has(loaderId);
  }

  /** The response that the document came with; status 0 when `Network` is not enabled. */
  get response(): { readonly status: number; readonly protocol: string } {
    return this.#response.loaderId === this.#document?.loaderId ? this.#response : { status: 0, protocol: '' };
  }

  get crashed(): boolean {
    return this.#crashed;
  }

  /** Returns whether the document has reached this milestone, or was stopped before, and no other one is on its way. */
  rests(at: Milestone): boolean {
    if (this.#coming !== null || this.#scheduled || this.#document === null) return false;
    if (at !== 'networkIdle') return this.#has(at) || this.#stopped === this.#document.loaderId;
    return (this.#has(at) || this.stoppedEarly) && this.#asking.size === 0 && this.#awaiting.size === 0;
  }

  /** Returns whether the document was stopped before all of it was read: by a navigation, a script, or its server. */
  get stoppedEarly(): boolean {
    return this.#document !== null && this.#stopped === this.#document.loaderId && !this.#has('DOMContentLoaded');
  }

  /** Makes everything that waits for the page fail with `failure`, whatever happens to the page. */
  fail(failure: Error): void {
    this.#failure ??= failure;
    this.#tell();
  }

  /** True from the request for another document until it arrives or is given up; the page answers nothing meanwhile. */
  get leaving(): boolean {
    return this.#coming !== null;
  }

  /** True when the document has painted something, even a colour. */
  get painted(): boolean {
    return this.#has('firstPaint');
  }

  /**
   * Resolves when `holds`, called after each change, returns true. Rejects with a `PageCrashedError` or a
   * `CdpClosedError` when the page or the browser ends first, and with the failure passed to `fail`.
   */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) {
      if (this.#failure !== null) throw this.#failure;
      if (this.#crashed) throw new PageCrashedError();
      if (this.#gone) throw new CdpClosedError('the page is gone');
      await new Promise<void>((resolve) => this.#changed.push(resolve));
    }
  }

  /** Rejects, as `until` does, when the page or the browser ends. */
  async ended(): Promise<never> {
    for (;;) await this.until(() => false);
  }

  #has(event: string): boolean {
    return this.#reached.has(`${this.#document?.loaderId} ${event}`);
  }

  #tell(): void {
    const waiting = this.#changed;
    this.#changed = [];
    for (const resume of waiting) resume();
  }
}
