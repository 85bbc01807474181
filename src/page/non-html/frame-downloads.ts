import { within } from '../../capture/deadline.ts';
import type { PageSession } from '../frames/page-session.ts';
import { fileName } from './file-name.ts';

const PDF = 'application/pdf';
/** Maximum number of downloads that are noted: pages can start any number of them. */
const MAX_DOWNLOADS = 8;
/**
 * Time limit for the events of downloads that were announced, in milliseconds. The first of a context may come after
 * the load event.
 */
const EVENT_MS = 500;

/** A file that came in place of a frame's document. */
export interface FrameDownload {
  readonly frameId: string;
  readonly url: string;
  /** The name of the file. */
  readonly name: string;
}

/** The downloads of the frames in a page's process that may be PDFs. Created before anything happens in the page. */
export class FrameDownloads {
  /** Size of the PDFs that have been shown, in bytes. */
  shownBytes = 0;
  readonly #noted: FrameDownload[] = [];
  #taken = 0;
  /** Media types of the last responses for documents, by frame id; none when `Network` is not enabled. */
  readonly #types = new Map<string, string>();
  /** Number of PDFs whose heads have arrived. */
  #announced = 0;
  #onDownload = () => {};

  constructor(session: PageSession) {
    session.on('Network.responseReceived', ({ type, frameId, response: { mimeType } }) => {
      if (type !== 'Document' || frameId === undefined) return;
      this.#types.set(frameId, mimeType);
      if (mimeType === PDF) this.#announced += 1;
    });
    session.on('Page.downloadWillBegin', ({ frameId, url, suggestedFilename }) => {
      if ((this.#types.get(frameId) ?? PDF) !== PDF) return;
      if (this.#noted.length < MAX_DOWNLOADS) this.#noted.push({ frameId, url, name: fileName(suggestedFilename) });
      this.#onDownload();
    });
  }

  /** Whether there may be downloads since the last call of `take`. */
  get hasNew(): boolean {
    return Math.max(this.#noted.length, this.#announced) > this.#taken;
  }

  /** Number of downloads that can still be noted. */
  get room(): number {
    return MAX_DOWNLOADS - this.#noted.length;
  }

  /** Resolves with the downloads since the last call. */
  async take(): Promise<readonly FrameDownload[]> {
    await this.#until(this.#announced, EVENT_MS);
    // Not all become downloads: the browser may have a viewer.
    this.#announced = this.#noted.length;
    const taken = this.#noted.slice(this.#taken);
    this.#taken = this.#noted.length;
    return taken;
  }

  /** Resolves when this many downloads can be taken, or no more are noted, or after this time. */
  async wait(count: number, maxMs: number): Promise<void> {
    await this.#until(this.#taken + count, maxMs);
  }

  async #until(count: number, maxMs: number): Promise<void> {
    const isEnough = () => this.#noted.length >= Math.min(count, MAX_DOWNLOADS);
    if (isEnough()) return;
    const enough = Promise.withResolvers<void>();
    this.#onDownload = () => {
      if (isEnough()) enough.resolve();
    };
    await within(maxMs, enough.promise, undefined);
  }
}
