import { sentResult } from '../capture/artifacts/artifact-paths.ts';
import type { CapstanEvent, Unsent } from '../capture/events.ts';

/** Version of the JSON that subscribers and receivers receive. */
const BODY_VERSION = 1;

/** Serialises an event for subscribers and receivers, without what is not sent. */
export function eventBody({ words: _words, to: _to, ...event }: CapstanEvent & Unsent): string {
  const result = 'result' in event && event.result !== null ? { result: sentResult(event.result) } : {};
  return JSON.stringify({ v: BODY_VERSION, ...event, ...result });
}
