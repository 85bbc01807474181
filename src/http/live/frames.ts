import type { LoggedEvent } from '../../feed/event-feed.ts';

/*
 * What is sent of events, as the HTML standard has it: https://html.spec.whatwg.org/multipage/server-sent-events.html
 */

/** JSON has no line breaks of its own, so an event's data is one line. */
export function frameOf({ id, type, body }: LoggedEvent): Buffer {
  return Buffer.from(`id: ${id}\nevent: ${type}\ndata: ${body}\n\n`, 'utf8');
}

/**
 * A comment, which keeps what lies between from closing a silent connection. With it the client's last id moves on: a
 * subscriber whose filter lets little through would else come back with an id that is too old.
 */
export function keepAliveFrame(id: number): Buffer {
  return Buffer.from(`: still here\nid: ${id}\n\n`, 'latin1');
}

/** What comes first: how long browsers wait before they come back, and from where, should nothing have happened. */
export function welcomeFrame(retryMs: number, id: number): Buffer {
  return Buffer.from(`retry: ${retryMs}\nid: ${id}\n\n`, 'latin1');
}
