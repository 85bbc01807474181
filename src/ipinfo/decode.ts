import type { IPInfo, Quota } from './names.ts';
import type { WireRecord } from './wire-formats.ts';

/** Converts a record in any wire format to an `IPInfo`; null when the record has no known field. */
export function toIPInfo(record: WireRecord): IPInfo | null {
  const info: IPInfo = {
    ip: text(record.ip),
    network: text(record.network),
    version: text(record.version),
    city: text(record.city),
    region: text(record.region),
    region_code: text(record.region_code),
    country: text(record.country),
    country_name: text(record.country_name),
    country_code: text(record.country_code),
    country_code_iso3: text(record.country_code_iso3),
    country_capital: text(record.country_capital),
    country_tld: text(record.country_tld),
    continent_code: text(record.continent_code),
    in_eu: boolean(record.in_eu),
    postal: isMissing(record.postal) ? null : text(record.postal),
    latitude: number(record.latitude),
    longitude: number(record.longitude),
    timezone: text(record.timezone),
    utc_offset: text(record.utc_offset),
    languages: text(record.languages),
    country_calling_code: text(record.country_calling_code),
    currency: text(record.currency),
    currency_name: text(record.currency_name),
    country_area: number(record.country_area),
    country_population: number(record.country_population),
    asn: text(record.asn),
    org: text(record.org),
    hostname: text(record.hostname),
  };
  const names = Object.keys(record);
  // An unrelated document must not be accepted as a record without values.
  if (names.length > 0 && !names.some((name) => Object.hasOwn(info, name))) return null;
  return Object.freeze(info);
}

export function toQuota(record: WireRecord): Quota | null {
  if (!Object.hasOwn(record, 'available')) return null;
  const available = text(record.available);
  return Object.freeze({ available, remaining: number(record.available) });
}

/** Returns a field's text; the upstream may end it with a line feed. */
export function toFieldText(body: string): string {
  return body.replace(/\r?\n$/, '');
}

function isMissing(value: unknown): boolean {
  return value === null || value === undefined;
}

function text(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}

function number(value: unknown): number | null {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value !== 'string' || !/^\s*[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?\s*$/.test(value)) return null;
  return Number(value);
}

function boolean(value: unknown): boolean | null {
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'string') return null;
  const word = value.toLowerCase();
  return word === 'true' ? true : word === 'false' ? false : null;
}
