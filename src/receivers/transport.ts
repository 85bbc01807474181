import type { Notice } from './notice.ts';

/** One message for one receiver. */
export interface Message {
  /** The same for every attempt, so that receivers can ignore repeats. */
  readonly id: string;
  /** The event as JSON, as subscribers receive it. */
  readonly body: string;
  /** Makes the news for people; only read by transports that send it. */
  notice(): Promise<Notice>;
}

/** The end of one attempt to deliver a message. */
export type Attempt =
  | { readonly end: 'delivered'; readonly status: number | null }
  /** Not taken now. `afterMs`: how long the receiver asks to wait; null when it does not say. */
  | { readonly end: 'again'; readonly reason: string; readonly status: number | null; readonly afterMs: number | null }
  /** Never taken. */
  | { readonly end: 'refused'; readonly reason: string; readonly status: number | null }
  /** Its address may not be dialled. */
  | { readonly end: 'forbidden'; readonly reason: string; readonly status: null };

/** Makes one attempt to send a message to one receiver. Never rejects. An aborted signal ends it as `again`. */
export type Transport = (message: Message, signal: AbortSignal) => Promise<Attempt>;
