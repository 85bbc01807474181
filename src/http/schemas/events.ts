import type { CapstanEvent } from '../../capture/domain.ts';

type EventType = CapstanEvent['type'];

/** Every type that a subscriber can be sent, but for `gap`. */
export const EVENT_TYPES = Object.keys({
  'capture.queued': true,
  'capture.started': true,
  'capture.stored': true,
  'capture.failed': true,
  'capture.timed_out': true,
  'capture.cancelled': true,
  'capture.rejected': true,
  'capture.reused': true,
  'batch.accepted': true,
  'batch.progress': true,
  'batch.completed': true,
  'browser.launched': true,
  'browser.retired': true,
  'browser.crashed': true,
  'pressure.changed': true,
  'webhook.delivered': true,
  'webhook.failed': true,
} satisfies Record<EventType, true>);

/** `capture.*`: every type of a group. */
export const EVENT_GROUPS = [...new Set(EVENT_TYPES.map((type) => `${type.split('.')[0]}.*`))];
