import { isAddress } from './address.ts';
import { InvalidArgumentError, InvalidIPError } from './errors.ts';
import { FIELD_NAMES, type Field, FORMATS, type Format } from './names.ts';
import type { Redact } from './redact.ts';

/*
 * Everything that becomes part of a path is validated before anything is sent. The types require the same, but plain
 * JavaScript programs call this client too.
 */

export function assertAddress(ip: unknown, redact: Redact): asserts ip is string {
  if (typeof ip === 'string' && isAddress(ip)) return;
  if (ip === '') throw new InvalidIPError('The address is empty. To look up your own address, call getClientIPInfo.');
  throw new InvalidIPError(
    `Not an address: ${shown(ip, redact)}. It must be an IPv4 or IPv6 address without zone, prefix length or brackets.`,
  );
}

export function assertFormat(format: unknown, redact: Redact): asserts format is Format {
  if (FORMATS.some((known) => known === format)) return;
  throw new InvalidArgumentError(`Not a format: ${shown(format, redact)}. It must be one of ${FORMATS.join(', ')}.`);
}

export function assertField(field: unknown, redact: Redact): asserts field is Field {
  if (field === 'hostname' || FIELD_NAMES.some((known) => known === field)) return;
  throw new InvalidArgumentError(
    `Not a field: ${shown(field, redact)}. It must be one of ${FIELD_NAMES.join(', ')}, hostname.`,
  );
}

/** Longest delay of a Node timer, in milliseconds. */
const MAX_MS = 2_147_483_647;

export function assertWhole(name: string, value: unknown, min: number, max = MAX_MS): asserts value is number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return;
  throw new InvalidArgumentError(`${name} must be a whole number from ${min} to ${max}, not ${describe(value)}.`);
}

/** Formats an invalid value for a message: quoted, without the key, and short. */
function shown(value: unknown, redact: Redact): string {
  const text = redact(describe(value));
  return text.length > 100 ? `${text.slice(0, 100)}...` : text;
}

function describe(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : typeof value === 'number' ? String(value) : typeof value;
}
