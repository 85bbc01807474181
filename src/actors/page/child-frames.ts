import type { PageSession } from './page-session.ts';

/**
 * The frames in a page. Frames in the page's process share its session. Frames in other processes (cross-site frames,
 * under site isolation) have a session each, which the browser attaches before their document runs.
 */
export class ChildFrames {
  readonly #outOfProcess = new Map<string, PageSession>();
  #seen = false;

  constructor(session: PageSession) {
    session.on('Page.frameNavigated', ({ frame }) => {
      this.#seen ||= frame.parentId !== undefined;
    });
  }

  addOutOfProcess(frameId: string, session: PageSession): void {
    this.#seen = true;
    this.#outOfProcess.set(frameId, session);
    session.on('Inspector.detached', () => {
      if (this.#outOfProcess.get(frameId) === session) this.#outOfProcess.delete(frameId);
    });
  }

  /** Returns whether a frame has shown a document so far. */
  get seen(): boolean {
    return this.#seen;
  }

  /** Sessions by frame id. */
  get outOfProcess(): ReadonlyMap<string, PageSession> {
    return this.#outOfProcess;
  }
}
