import { sentResult } from '../capture/artifact-paths.ts';
import type { CapstanEvent } from '../capture/events.ts';

/** Version of the JSON that subscribers and webhooks receive. */
const BODY_VERSION = 1;

/** Serialises an event for subscribers and webhooks. */
export function eventBody(event: CapstanEvent): string {
  const result = 'result' in event && event.result !== null ? { result: sentResult(event.result) } : {};
  return JSON.stringify({ v: BODY_VERSION, ...event, ...result });
}
