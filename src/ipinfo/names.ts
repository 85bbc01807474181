/** All fields that the upstream offers without an add-on. Case-sensitive. */
export const FIELD_NAMES = [
  'ip',
  'network',
  'version',
  'city',
  'region',
  'region_code',
  'country',
  'country_name',
  'country_code',
  'country_code_iso3',
  'country_capital',
  'country_tld',
  'continent_code',
  'in_eu',
  'postal',
  'latitude',
  'longitude',
  'latlong',
  'timezone',
  'utc_offset',
  'languages',
  'country_calling_code',
  'currency',
  'currency_name',
  'country_area',
  'country_population',
  'asn',
  'org',
] as const;

export type FieldName = (typeof FIELD_NAMES)[number];

/** Fields that can be requested on their own: the 28 fields and `hostname`, a paid add-on. */
export type Field = FieldName | 'hostname';

/** Formats of a whole record. Case-sensitive. */
export const FORMATS = ['json', 'jsonp', 'xml', 'csv', 'yaml'] as const;

export type Format = (typeof FORMATS)[number];

/**
 * The record of an address, with the upstream's key names. Where the upstream has no value, strings are `''` and
 * everything else is null. The object is frozen.
 */
export type IPInfo = {
  readonly ip: string;
  readonly network: string;
  /** `IPv4` or `IPv6`. */
  readonly version: string;
  readonly city: string;
  readonly region: string;
  readonly region_code: string;
  readonly country: string;
  readonly country_name: string;
  readonly country_code: string;
  readonly country_code_iso3: string;
  readonly country_capital: string;
  /** With its leading dot. */
  readonly country_tld: string;
  readonly continent_code: string;
  readonly in_eu: boolean | null;
  /** A string, to keep leading zeros. */
  readonly postal: string | null;
  /** Degrees. */
  readonly latitude: number | null;
  readonly longitude: number | null;
  readonly timezone: string;
  readonly utc_offset: string;
  readonly languages: string;
  /** With its plus sign. */
  readonly country_calling_code: string;
  readonly currency: string;
  readonly currency_name: string;
  /** Square kilometres. */
  readonly country_area: number | null;
  readonly country_population: number | null;
  readonly asn: string;
  readonly org: string;
  readonly hostname: string;
};

/** The postal code, `''` when unknown. */
export function getPostal(info: Pick<IPInfo, 'postal'>): string {
  return info.postal ?? '';
}

/** The remaining quota of the key. */
export interface Quota {
  /** As sent by the upstream: a number's digits, or a text such as `API key needed`. */
  readonly available: string;
  /** The same as a number; null when it is a text. */
  readonly remaining: number | null;
}
