import { createHash, X509Certificate } from 'node:crypto';
import type { PeerCertificate } from 'node:tls';
import { bounded, instant } from '../basics/bounded.ts';
import type { Certificate } from './host-facts.ts';

const MAX_NAMES = 100;
const MAX_CHARACTERS = 256;
/** Maximum number of certificates of a chain, and of their characters together. */
const MAX_CHAIN = 10;
const MAX_CHAIN_CHARACTERS = 64 * 1024;
/** An entry of the alternative names: as it is, or as a JSON string when it has unusual characters. */
const NAME = /(?:^|, )(?:DNS|IP Address):("(?:[^"\\]|\\.)*"|[^,]*)/g;

/** Returns what a certificate (DER) says; null when it cannot be read. */
export function readCertificate(der: Uint8Array): Certificate | null {
  try {
    const certificate = new X509Certificate(der);
    const { subject, issuer } = certificate.toLegacyObject();
    const { subjectAltName = '' } = certificate;
    const names = [...subjectAltName.matchAll(NAME)].map(([, name = '']) => unquoted(name)).slice(0, MAX_NAMES);
    return {
      subject: nameOf(subject),
      names: names.map((name) => bounded(name, MAX_CHARACTERS)),
      issuer: issuerName(issuer),
      valid_from: instant(Date.parse(certificate.validFrom) / 1000),
      valid_to: instant(Date.parse(certificate.validTo) / 1000),
      sha256: createHash('sha256').update(der).digest('hex'),
    };
  } catch {
    return null;
  }
}

/** Returns the first certificates (DER in Base64) of a chain, as many as are kept. */
export function boundedChain(chain: readonly string[]): readonly string[] {
  let characters = 0;
  return chain.slice(0, MAX_CHAIN).filter((each) => {
    characters += each.length;
    return characters <= MAX_CHAIN_CHARACTERS;
  });
}

type Name = PeerCertificate['subject'];

/** Returns the common name, else the organisation, else all parts. */
function nameOf(name: Name | undefined): string {
  const all = () =>
    Object.entries(name ?? {})
      .map(([key, value]) => `${key}=${value}`)
      .join(', ');
  return bounded(partOf(name?.CN) ?? partOf(name?.O) ?? all(), MAX_CHARACTERS);
}

/** Returns the name of an issuer with its organisation: the common name of most is a number, such as `R11`. */
function issuerName(issuer: Name | undefined): string {
  const name = nameOf(issuer);
  const organisation = partOf(issuer?.O) ?? name;
  return name === organisation ? name : bounded(`${name} (${organisation})`, MAX_CHARACTERS);
}

/** A part that occurs several times is an array; the last one is the narrowest. */
function partOf(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.at(-1);
}

function unquoted(name: string): string {
  if (!name.startsWith('"')) return name;
  const text: unknown = JSON.parse(name);
  return String(text);
}
