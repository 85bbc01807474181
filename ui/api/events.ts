import { receiveEvents } from '../../src/client/events.ts';
import { send } from './client.ts';
import type { CapstanEvent } from './types.ts';

/*
 * One subscription to the events of the service, shared by all views, because a browser keeps at most six connections
 * to a service over HTTP/1.1. The subscription is open while a view listens and the page is visible.
 */

type Listener = (event: CapstanEvent) => void;

const listeners = new Set<Listener>();
let receiving: AbortController | undefined;
let lastEventId: number | undefined;

/** Calls the listener for every event from now on. Returns a function that ends the subscription. */
export function subscribe(listener: Listener): () => void {
  listeners.add(listener);
  connect();
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) disconnect();
  };
}

document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'hidden') disconnect();
  else connect();
});

function connect(): void {
  if (receiving !== undefined || listeners.size === 0 || document.visibilityState === 'hidden') return;
  const own = new AbortController();
  receiving = own;
  // It ends by `disconnect`, or because the session is over: after the next login a view subscribes again.
  void receive(own.signal).catch(() => {
    if (receiving === own) receiving = undefined;
  });
}

function disconnect(): void {
  receiving?.abort();
  receiving = undefined;
}

async function receive(signal: AbortSignal): Promise<void> {
  for await (const received of receiveEvents(send, { lastEventId }, { signal })) {
    if (!('event' in received)) continue;
    lastEventId = received.id;
    for (const listener of listeners) listener(received.event);
  }
}
