import type { CapstanEvent, EventType } from './types.ts';

/*
 * One subscription to the events of the service, shared by all views, because a browser keeps at most six connections
 * to a service over HTTP/1.1. The subscription is open while a view listens and the page is visible.
 */

const TYPES: readonly EventType[] = [
  'capture.queued',
  'capture.started',
  'capture.stored',
  'capture.failed',
  'capture.timed_out',
  'capture.cancelled',
  'capture.rejected',
  'capture.reused',
  'batch.accepted',
  'batch.progress',
  'batch.completed',
  'watch.run',
  'browser.launched',
  'browser.retired',
  'browser.crashed',
];

type Listener = (event: CapstanEvent) => void;

const listeners = new Set<Listener>();
let source: EventSource | undefined;
let lastEventId = '';

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
  if (source !== undefined || listeners.size === 0 || document.visibilityState === 'hidden') return;
  const since = lastEventId === '' ? '' : `?lastEventId=${lastEventId}`;
  source = new EventSource(`/events${since}`);
  for (const type of TYPES) source.addEventListener(type, receive);
}

function disconnect(): void {
  source?.close();
  source = undefined;
}

function receive({ data, lastEventId: id }: MessageEvent<string>): void {
  lastEventId = id;
  const event: CapstanEvent = JSON.parse(data);
  for (const listener of listeners) listener(event);
}
