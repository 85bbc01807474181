import type { CapstanEvent } from '../capture/domain.ts';

/** Version of the JSON that subscribers and webhooks receive. */
const BODY_VERSION = 1;

/** Serialises an event for subscribers and webhooks. */
export function eventBody(event: CapstanEvent): string {
  return JSON.stringify({ v: BODY_VERSION, ...event });
}
