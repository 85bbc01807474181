import { within } from '../capture/deadline.ts';
import type { EvaluatedFrame, PageSession } from './page-session.ts';

/** Maximum number of downloads that are noted: pages can start any number of them. */
const MAX_DOWNLOADS = 8;
/**
 * Time limit for the events of downloads that were announced, in milliseconds. The first of a context may come after the
 * load event.
 */
const EVENT_MS = 500;

/** What came in place of a document. */
export interface FrameDownload {
  readonly frameId: string;
  readonly url: string;
  /** The name of the file. */
  readonly name: string;
}

/**
 * The frames in a page. Frames in the page's process share its session. Frames in other processes (cross-site frames,
 * under site isolation) have a session each, which the browser attaches before their document runs.
 */
export class ChildFrames {
  readonly #outOfProcess = new Map<string, PageSession>();
  /** The session of the process around, by the session of a frame. */
  readonly #around = new WeakMap<PageSession, PageSession>();
  #seen = false;
  readonly #downloads: FrameDownload[] = [];
  #downloadsTaken = 0;
  /** Number of PDFs whose heads have arrived; 0 when `Network` is not enabled. */
  #announced = 0;
  #onDownload = () => {};

  constructor(session: PageSession) {
    session.on('Page.frameNavigated', ({ frame }) => {
      this.#seen ||= frame.parentId !== undefined;
    });
    session.on('Network.responseReceived', ({ type, response }) => {
      if (type === 'Document' && response.mimeType === 'application/pdf') this.#announced += 1;
    });
    session.on('Page.downloadWillBegin', ({ frameId, url, suggestedFilename: name }) => {
      if (this.#downloads.length < MAX_DOWNLOADS) this.#downloads.push({ frameId, url, name });
      this.#onDownload();
    });
  }

  /** Resolves with the downloads that frames in the page's process have started since the last call. */
  async takeDownloads(): Promise<readonly FrameDownload[]> {
    await this.#downloaded(this.#announced, EVENT_MS);
    const taken = this.#downloads.slice(this.#downloadsTaken);
    this.#downloadsTaken = this.#downloads.length;
    return taken;
  }

  /** Resolves when this many downloads can be taken, or no more are noted, or after this time. */
  async awaitDownloads(count: number, maxMs: number): Promise<void> {
    await this.#downloaded(this.#downloadsTaken + count, maxMs);
  }

  async #downloaded(count: number, maxMs: number): Promise<void> {
    const isEnough = () => this.#downloads.length >= Math.min(count, MAX_DOWNLOADS);
    if (isEnough()) return;
    const noted = Promise.withResolvers<void>();
    this.#onDownload = () => {
      if (isEnough()) noted.resolve();
    };
    await within(maxMs, noted.promise, undefined);
  }

  /** `around`: session of the process with the frame's element. */
  addOutOfProcess(frameId: string, session: PageSession, around: PageSession): void {
    this.#seen = true;
    this.#around.set(session, around);
    this.#outOfProcess.set(frameId, session);
    session.on('Inspector.detached', () => {
      if (this.#outOfProcess.get(frameId) === session) this.#outOfProcess.delete(frameId);
    });
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
