import { FrameDownloads } from '../non-html/frame-downloads.ts';
import type { EvaluatedFrame, PageSession } from './page-session.ts';

/**
 * The frames in a page. Frames in the page's process share its session. Frames in other processes (cross-site frames,
 * under site isolation) have a session each, which the browser attaches before their document runs.
 */
export class ChildFrames {
  readonly #outOfProcess = new Map<string, PageSession>();
  /** The session of the process around, by the session of a frame. */
  readonly #around = new WeakMap<PageSession, PageSession>();
  /** Called with the sessions of frames that go on in other processes, by frame id. */
  readonly #onMove = new Map<string, (session: PageSession) => void>();
  #seen = false;
  readonly downloads: FrameDownloads;

  constructor(session: PageSession) {
    this.downloads = new FrameDownloads(session);
    session.on('Page.frameNavigated', ({ frame }) => {
      this.#seen ||= frame.parentId !== undefined;
    });
  }

  /** `around`: session of the process with the frame's element. */
  addOutOfProcess(frameId: string, session: PageSession, around: PageSession): void {
    this.#seen = true;
    this.#around.set(session, around);
    this.#outOfProcess.set(frameId, session);
    this.#onMove.get(frameId)?.(session);
    session.on('Inspector.detached', () => {
      if (this.#outOfProcess.get(frameId) === session) this.#outOfProcess.delete(frameId);
    });
  }

  /**
   * Calls `run` with the session of a frame that goes on in another process, before its document runs. Returns a
   * function that ends this.
   */
  onMove(frameId: string, run: (session: PageSession) => void): () => void {
    this.#onMove.set(frameId, run);
    return () => this.#onMove.delete(frameId);
  }

  /** Returns whether a frame has shown a document so far. */
  get seen(): boolean {
    return this.#seen;
  }

  /** Returns the frames in other processes that lie within the frames of a session, at any depth. */
  within(session: PageSession): readonly EvaluatedFrame[] {
    return [...this.#outOfProcess].flatMap(([id, inner]) =>
      this.#around.get(inner) === session ? [{ session: inner, frame: { id } }, ...this.within(inner)] : [],
    );
  }

  /** The session of the process with the frame's element; undefined for a session that is none of these frames. */
  around(session: PageSession): PageSession | undefined {
    return this.#around.get(session);
  }

  /** Sessions by frame id. */
  get outOfProcess(): ReadonlyMap<string, PageSession> {
    return this.#outOfProcess;
  }
}
