import type { Content } from 'har-format';
import { within } from '../../capture/deadline.ts';
import type { PageSession } from '../frames/page-session.ts';

const NOT_KEPT = 'left out: the browser did not keep it';
const NOT_ENDED = 'left out: it had not arrived';

/** The body of a response as text or base64, or a comment that says why it was left out. */
export type Body = Pick<Content, 'text' | 'encoding' | 'comment'>;

export interface BodyLimits {
  /** Maximum size of one body in bytes, and of all together, as they are written. */
  readonly each: number;
  readonly all: number;
}

/**
 * Reads bodies of responses within bounds, as soon as they have ended: the browser drops them with their document.
 */
export class BodyReader {
  readonly #limits: BodyLimits;
  readonly #reading = new Set<Promise<void>>();
  readonly #read = new Map<object, Body>();
  #room: number;
  #omitted = false;

  constructor(limits: BodyLimits) {
    this.#limits = limits;
    this.#room = limits.all;
  }

  /** Whether a body was left out. */
  get omitted(): boolean {
    return this.#omitted;
  }

  /** Reads the body of a response that has ended. `of` identifies it. */
  read(of: object, session: PageSession, requestId: string, bytes: number): void {
    const reading = this.#body(session, requestId, bytes).then((body) => void this.#read.set(of, body));
    this.#reading.add(reading);
    void reading.then(() => this.#reading.delete(reading));
  }

  /** Takes room for a body that was read elsewhere. Returns false when there is none. */
  take(bytes: number): boolean {
    if (bytes > this.#room) return false;
    this.#room -= bytes;
    return true;
  }

  /** Leaves out a body. */
  without(comment: string): Body {
    this.#omitted = true;
    return { comment };
  }

  /** Why there is no room for a body. */
  get noRoom(): string {
    return `left out: the bodies have more than ${this.#limits.all} bytes`;
  }

  /** Awaits the bodies that are being read, at most this long. */
  async settled(ms: number): Promise<void> {
    await within(ms, Promise.all(this.#reading), undefined);
  }

  bodyOf(of: object): Body {
    return this.#read.get(of) ?? { comment: NOT_ENDED };
  }

  async #body(session: PageSession, requestId: string, bytes: number): Promise<Body> {
    const { each } = this.#limits;
    if (bytes > each) return this.without(`left out: larger than ${each} bytes`);
    if (!this.take(bytes)) return this.without(this.noRoom);
    try {
      const { body, base64Encoded } = await session.sendForShort('Network.getResponseBody', { requestId });
      // Base64 takes more bytes than the body.
      const written = base64Encoded ? body.length : Buffer.byteLength(body);
      if (this.take(written - bytes)) {
        return base64Encoded ? { text: body, encoding: 'base64' } : { text: body.toWellFormed() };
      }
      this.#room += bytes;
      return this.without(this.noRoom);
    } catch {
      this.#room += bytes;
      return this.without(NOT_KEPT);
    }
  }
}
