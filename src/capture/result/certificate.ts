import { createHash, X509Certificate } from 'node:crypto';
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
    const { subject, issuer, subjectAltName = '' } = certificate;
    const names = [...subjectAltName.matchAll(NAME)].map(([, name = '']) => unquoted(name)).slice(0, MAX_NAMES);
    return {
      subject: nameOf(subject),
      names: names.map((name) => bounded(name, MAX_CHARACTERS)),
      issuer: nameOf(issuer),
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

/** Returns the common name of a subject, else its organisation, else all of it. A subject has a line for each part. */
function nameOf(subject: string | undefined = ''): string {
  const parts = subject.split('\n');
  const part = (key: string) => parts.findLast((each) => each.startsWith(`${key}=`))?.slice(key.length + 1);
  return bounded(part('CN') ?? part('O') ?? parts.join(', '), MAX_CHARACTERS);
}

function unquoted(name: string): string {
  if (!name.startsWith('"')) return name;
  const text: unknown = JSON.parse(name);
  return String(text);
}
