import type { LoggedEvent } from '../../storage/ports/event-log.ts';

/*
 * Frames of Server-Sent Events: https://html.spec.whatwg.org/multipage/server-sent-events.html
 */

/** Delay before browsers reconnect, in milliseconds. */
const RETRY_MS = 2000;
/** Proxies close connections that are silent for 30 s or more. */
export const KEEP_ALIVE_MS = 15_000;

/** Returns the frame of an event. Its data is one line, because serialised JSON has no line breaks. */
export function frameOf({ id, type, body }: LoggedEvent): Buffer {
  return Buffer.from(`id: ${id}\nevent: ${type}\ndata: ${body}\n\n`, 'utf8');
}

/**
 * Returns a comment that keeps proxies from closing a silent connection. Its id advances the client's last event id, so
 * that a subscriber with a narrow filter does not reconnect with an id that is too old.
 */
export function keepAliveFrame(id: number): Buffer {
  return Buffer.from(`: still here\nid: ${id}\n\n`, 'latin1');
}

/** Returns the first frame: the delay before browsers reconnect, and the id to resume from if no event follows. */
export function welcomeFrame(id: number): Buffer {
  return Buffer.from(`retry: ${RETRY_MS}\nid: ${id}\n\n`, 'latin1');
}
