import { createHash } from 'node:crypto';
import { domainToASCII } from 'node:url';
import { exactTechnology } from '../../capture/finding/exact-technology.ts';
import type { ResultConditions } from '../../capture/finding/result-conditions.ts';
import type { HostFacts } from '../../capture/result/host-facts.ts';
import { prefixesOfAddress, prefixesOfNetwork, readNetwork } from '../../capture/result/network.ts';
import type { Result } from '../../capture/result/result.ts';
import { unaccented } from '../../words/folded.ts';

/* Terms of what the host was. Each is a hash of a fixed length: values are long, and have characters that end words. */

/** A private-use character, which occurs in no word. */
const FACT = '\uE00B';
const HASH_BYTES = 8;
/** Maximum numbers of terms of each kind: a header or a certificate may name any number. */
const MAX_PRODUCTS = 24;
const MAX_NAMES = 200;
const MAX_WORDS = 12;
/** Beginnings of a date that are terms: its century, decade, year, month and day. */
const DATE_PARTS = [2, 3, 4, 7, 10] as const;
/** The first century of a certificate's end that is found: 19 for 1900 to 1999. */
const FIRST_CENTURY = 19;

/** Conditions that a record meets by one of several terms. */
export type ChoiceCondition = 'address' | 'certificateExpiresBefore';

/** Reads the terms of a condition that a record meets by having all of them. */
const WANTED = {
  server: (value: string) => [plain(value)],
  poweredBy: (value: string) => [plain(value)],
  contentSecurityPolicy: (value: string) => [value],
  hsts: (value: string) => [value],
  certificate: (value: string) => [
    /^[0-9a-f:]{64,}$/i.test(value) ? value.replaceAll(':', '').toLowerCase() : hostOf(value),
  ],
  certificateIssuer: (value: string) => wordsOf(value),
  favicon: (value: string) => [
    /^-?\d+$/.test(value) && value.length <= 11 ? String(Number(value)) : value.toLowerCase(),
  ],
  cname: (value: string) => [hostOf(value)],
  technology: (value: string) => value.split(',').flatMap((each) => (each.trim() === '' ? [] : [plain(each)])),
} satisfies Partial<Record<keyof ResultConditions, (value: string) => readonly string[]>>;

/** Conditions on what the host was that a record meets by having all of their terms. */
export type HostCondition = keyof typeof WANTED;
const HOST_CONDITIONS = Object.keys(WANTED).filter((kind): kind is HostCondition => kind in WANTED);
type Kind = HostCondition | ChoiceCondition;

/** Returns the terms of what the host was. */
export function hostFactTermsOf({
  remote_ip: address,
  host_facts: facts,
}: Pick<Result, 'remote_ip' | 'host_facts'>): readonly string[] {
  const ofAddress = address === null ? [] : prefixesOfAddress(address).map((prefix) => factTerm('address', prefix));
  return facts === null ? ofAddress : [...new Set([...ofAddress, ...termsOfFacts(facts)])];
}

function termsOfFacts(facts: HostFacts): readonly string[] {
  const { server, powered_by, content_security_policy: policy, hsts, certificate, favicon, cnames } = facts;
  const terms = (kind: Kind, values: readonly unknown[], max: number) =>
    [...new Set(values)].slice(0, max).map((value) => factTerm(kind, String(value)));
  const software = facts.technologies.flatMap((each) => [
    ...versionsOf(each.name, each.version),
    plain(exactTechnology(each)),
  ]);
  return [
    ...terms('server', productsIn(server ?? ''), MAX_PRODUCTS),
    ...terms('poweredBy', productsIn(powered_by ?? ''), MAX_PRODUCTS),
    ...(policy === null ? [] : terms('contentSecurityPolicy', [policy], 1)),
    ...(hsts === null ? [] : terms('hsts', [hsts], 1)),
    ...(certificate === null
      ? []
      : [
          ...terms('certificate', [certificate.sha256], 1),
          ...terms('certificate', domainsOf([certificate.subject, ...certificate.names]), MAX_NAMES),
          ...terms('certificateIssuer', wordsOf(certificate.issuer), MAX_WORDS),
          ...terms(
            'certificateExpiresBefore',
            DATE_PARTS.map((end) => certificate.valid_to.slice(0, end)),
            DATE_PARTS.length,
          ),
        ]),
    ...(favicon === null ? [] : terms('favicon', [favicon.hash, favicon.sha256], 2)),
    ...terms('cname', domainsOf(cnames), MAX_NAMES),
    ...terms('technology', software, software.length),
  ];
}

/** Returns the terms that a record must have to meet the conditions on what the host was. */
export function wantedHostTerms(conditions: Pick<ResultConditions, HostCondition>): readonly string[] {
  return HOST_CONDITIONS.flatMap((kind) => {
    const value = conditions[kind];
    return value === undefined ? [] : WANTED[kind](value).map((each) => factTerm(kind, each));
  });
}

/** Returns lists of terms; a record must have one of each to meet the conditions. */
export function wantedChoices({
  address,
  certificateExpiresBefore: before,
}: Pick<ResultConditions, ChoiceCondition>): readonly (readonly string[])[] {
  const network = address === undefined ? null : readNetwork(address);
  const choices: Record<ChoiceCondition, readonly string[] | undefined> = {
    address: network === null ? undefined : prefixesOfNetwork(network),
    certificateExpiresBefore: before === undefined ? undefined : daysBefore(before),
  };
  return (['address', 'certificateExpiresBefore'] as const).flatMap((kind) => {
    const values = choices[kind];
    return values === undefined ? [] : [values.map((value) => factTerm(kind, value))];
  });
}

/** Returns the centuries, decades, years, months and days before the day of a time. */
function daysBefore(instant: string): readonly string[] {
  const day = instant.slice(0, 10);
  const number = (from: number, to: number) => Number(day.slice(from, to));
  const upTo = (prefix: string, first: number, end: number, digits: number) =>
    Array.from({ length: Math.max(0, end - first) }, (_, at) => prefix + String(first + at).padStart(digits, '0'));
  return [
    ...upTo('', FIRST_CENTURY, number(0, 2), 2),
    ...upTo(day.slice(0, 2), 0, number(2, 3), 1),
    ...upTo(day.slice(0, 3), 0, number(3, 4), 1),
    ...upTo(day.slice(0, 5), 1, number(5, 7), 2),
    ...upTo(day.slice(0, 8), 1, number(8, 10), 2),
    // A choice cannot be empty, and no certificate has this.
    'never',
  ];
}

function factTerm(kind: Kind, value: string): string {
  const hash = createHash('sha256').update(`${kind} ${value}`).digest().subarray(0, HASH_BYTES);
  return `${FACT}${hash.toString('hex')}`;
}

/** Returns a header as a whole, its products, and its products with their versions. */
function productsIn(header: string): readonly string[] {
  const whole = plain(header);
  if (whole === '') return [];
  const products = whole.match(/[^\s(),;]+/g) ?? [];
  return [
    whole,
    ...products.flatMap((product) => {
      const [name = '', version = ''] = product.split('/', 2);
      return versionsOf(name, version);
    }),
  ];
}

/** Returns a name, and with each beginning of its version: `php`, `php/8`, `php/8.2`. */
function versionsOf(name: string, version: string): readonly string[] {
  const numbers = plain(version).split('.');
  const versions = version === '' ? [] : numbers.map((_, at) => `${plain(name)}/${numbers.slice(0, at + 1).join('.')}`);
  return [plain(name), ...versions.slice(0, 4)];
}

/** Returns host names, followed by their parent domains, so that a limit leaves out no name for the parents of another. */
function domainsOf(names: readonly string[]): readonly string[] {
  return [...names.map(hostOf).filter((host) => host !== ''), ...names.flatMap(parentsOf)];
}

/** Returns a host name and its parent domains; `*.` stands for its domain. */
function parentsOf(name: string): readonly string[] {
  const host = hostOf(name);
  if (!/\.[^\d.][^.]*$/.test(host)) return host === '' ? [] : [host];
  const labels = host.split('.');
  return labels.slice(0, -1).map((_, at) => labels.slice(at).join('.'));
}

function hostOf(name: string): string {
  const host = name.trim().toLowerCase().replace(/^\*\./, '').replace(/\.$/, '');
  return domainToASCII(host) || host;
}

function wordsOf(text: string): readonly string[] {
  return unaccented(text)
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}

function plain(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ').toLowerCase();
}
