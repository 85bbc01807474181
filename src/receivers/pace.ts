import type { ReceiverPace } from '../capture/work/receiver.ts';

/** When a receiver is sent messages. */
export type Pace = ReceiverPace;

/** Number of messages sent in an hour, as it is stored. */
export interface Sent {
  /** Number of the hour since 1970. */
  readonly hour: number;
  readonly messages: number;
}

/** The decision what a receiver may be sent now. */
export type Turn =
  | { readonly may: 'wait'; readonly until: number }
  /** The messages about events before a time, as one. */
  | { readonly may: 'digest'; readonly before: number }
  | { readonly may: 'send' };

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** `sent`: undefined when nothing was sent yet. */
export function turnAt(now: number, { every, quiet, maxPerHour }: Pace, sent: Sent | undefined): Turn {
  const quietMs = quiet === undefined ? 0 : untilLoud(now, quiet);
  if (quietMs > 0) return { may: 'wait', until: now + quietMs };
  if (every !== undefined) return { may: 'digest', before: now - (now % every) };
  if (maxPerHour === undefined || sent === undefined || sent.messages < maxPerHour) return { may: 'send' };
  const hour = hourOf(now);
  // Messages that waited because the hour was full are sent as one in the next.
  return sent.hour === hour ? { may: 'wait', until: (hour + 1) * HOUR_MS } : { may: 'digest', before: hour * HOUR_MS };
}

/** Returns what was sent after one message more. */
export function sentAfter(sent: Sent | undefined, now: number): Sent {
  const hour = hourOf(now);
  return { hour, messages: sent?.hour === hour ? sent.messages + 1 : 1 };
}

function hourOf(now: number): number {
  return Math.floor(now / HOUR_MS);
}

/** Returns the time until quiet hours end; 0 outside of them. */
function untilLoud(now: number, { from, to, timeZone }: NonNullable<Pace['quiet']>): number {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
  const [hours = '0', minutes = '0'] = format.format(now).split(':');
  const minute = Number(hours) * 60 + Number(minutes);
  const isQuiet = from <= to ? minute >= from && minute < to : minute >= from || minute < to;
  return isQuiet ? ((to - minute + 1440) % 1440) * MINUTE_MS - (now % MINUTE_MS) : 0;
}
