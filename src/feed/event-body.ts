import { sentResult } from '../capture/artifact-paths.ts';
import type { CapstanEvent, UnsentWords } from '../capture/events.ts';

/** Version of the JSON that subscribers and webhooks receive. */
const BODY_VERSION = 1;

/** Serialises an event for subscribers and webhooks, without the words of the page. */
export function eventBody({ words: _words, ...event }: CapstanEvent & UnsentWords): string {
  const result = 'result' in event && event.result !== null ? { result: sentResult(event.result) } : {};
  return JSON.stringify({ v: BODY_VERSION, ...event, ...result });
}
