import type { CapstanEvent } from '../capture/domain.ts';

/** Of the JSON that subscribers and webhooks get. */
const BODY_VERSION = 1;

/** An event as it is sent. */
export function eventBody(event: CapstanEvent): string {
  return JSON.stringify({ v: BODY_VERSION, ...event });
}
