import { type NewReceiver, NewReceiverSchema } from '../capture/work/receiver.ts';

/* Receivers as options write them: `team=slack:https://hooks.example/T1 every=1h`. */

export const NOTIFY_TAKES =
  'name=kind:address, and behind it any of every=1h, quiet=22:00-07:00@Europe/Berlin and max-per-hour=20';

/**
 * Reads a receiver.
 * @throws Error that says what is wrong, without the address.
 */
export function readReceiver(text: string): NewReceiver {
  const [first = '', ...rest] = text.trim().split(/\s+/);
  const [, name, kind, address] = /^([^=:]+)=([^:]+):(.+)$/.exec(first) ?? [];
  const pace = Object.fromEntries(rest.map((part) => /^([^=]*)=?(.*)$/.exec(part)?.slice(1) ?? []));
  const { 'max-per-hour': maxPerHour, ...others } = pace;
  const written = {
    name,
    kind,
    address,
    ...others,
    ...(maxPerHour !== undefined && { maxPerHour: Number(maxPerHour) }),
  };
  const { success, data, error } = NewReceiverSchema.safeParse(written);
  if (success) return data;
  const [issue] = error.issues;
  throw new Error(`${String(issue?.path[0] ?? 'it')} ${issue?.message ?? ''}; it takes ${NOTIFY_TAKES}`);
}

/** Reads the receivers of the operator. */
export function readReceivers(texts: readonly string[]): readonly NewReceiver[] {
  return texts.map(readReceiver);
}
