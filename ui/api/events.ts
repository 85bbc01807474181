import { receiveEvents } from '../../src/client/events.ts';
import { send } from './client.ts';
import type { CapstanEvent } from './types.ts';

/*
 * One subscription to the events of the service, shared by all views, because a browser keeps at most six connections
 * to a service over HTTP/1.1. The subscription is open while a view listens and the page is visible.
 */

/** `gap`: events are missing, so what was read before may have changed. */
type Listener = (event: CapstanEvent | { readonly type: 'gap' }) => void;

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
  if (document.visibilityState === 'hidden') return disconnect();
  // Without an event there is no id to go on from. The service reports a gap after an id that it does not know.
  lastEventId ??= Number.MAX_SAFE_INTEGER;
  connect();
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
    if ('event' in received) lastEventId = received.id;
    const event = 'event' in received ? received.event : ({ type: 'gap' } as const);
    for (const listener of listeners) listener(event);
  }
}
