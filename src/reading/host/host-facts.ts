import { bounded } from '../../capture/basics/bounded.ts';
import { readCertificate } from '../../capture/result/certificate.ts';
import type { SeenHostFacts } from '../../capture/result/host-facts.ts';
import type { Gathered } from '../../page/evidence/notes.ts';

const MAX_HEADER_CHARACTERS = 256;

/** Returns what is known of the host, without asking it anything. */
export function readHostFacts({ evidence, headers, chain }: Gathered): SeenHostFacts {
  const header = (wanted: string): string | null => {
    if (headers === null) return null;
    const value = headers.find(({ name }) => name.toLowerCase() === wanted)?.value ?? '';
    // A repeated header has a line for each value.
    return bounded(value.replaceAll('\n', ', ').trim(), MAX_HEADER_CHARACTERS);
  };
  const has = (wanted: string): boolean | null =>
    headers === null ? null : headers.some(({ name, value }) => name.toLowerCase() === wanted && value.trim() !== '');
  const [own] = chain;
  const { favicon = null } = evidence;
  return {
    server: header('server'),
    powered_by: header('x-powered-by'),
    content_security_policy: has('content-security-policy'),
    hsts: has('strict-transport-security'),
    certificate: own === undefined ? null : readCertificate(Buffer.from(own, 'base64')),
    favicon: favicon && { hash: favicon.hash, sha256: favicon.sha256 },
  };
}
