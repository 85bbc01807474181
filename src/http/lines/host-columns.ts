import type { Certificate, HostFacts } from '../../capture/result/host-facts.ts';
import type { Result } from '../../capture/result/result.ts';

/** Columns of a CSV file that say what the host was, and what each contains. */
const COLUMNS: Readonly<Record<string, (facts: HostFacts) => unknown>> = {
  server: ({ server }) => server,
  powered_by: (facts) => facts.powered_by,
  content_security_policy: (facts) => facts.content_security_policy,
  hsts: ({ hsts }) => hsts,
  certificate_subject: ofCertificate(({ subject }) => subject),
  certificate_names: ofCertificate(({ names }) => names.join(' ')),
  certificate_issuer: ofCertificate(({ issuer }) => issuer),
  certificate_valid_from: ofCertificate((certificate) => certificate.valid_from),
  certificate_valid_to: ofCertificate((certificate) => certificate.valid_to),
  certificate_sha256: ofCertificate(({ sha256 }) => sha256),
  favicon_hash: ({ favicon }) => favicon?.hash,
  favicon_sha256: ({ favicon }) => favicon?.sha256,
  cnames: ({ cnames }) => cnames.join(' '),
  technologies: ({ technologies }) =>
    technologies.map(({ name, version }) => (version === '' ? name : `${name} ${version}`)).join(', '),
};

export const HOST_COLUMNS: readonly string[] = Object.keys(COLUMNS);

/** Returns the values of the columns; none when the facts are not known. */
export function hostColumnsOf({ host_facts: facts }: Pick<Result, 'host_facts'>): Readonly<Record<string, unknown>> {
  if (facts === null) return {};
  return Object.fromEntries(Object.entries(COLUMNS).map(([name, read]) => [name, read(facts)]));
}

function ofCertificate(read: (certificate: Certificate) => unknown): (facts: HostFacts) => unknown {
  return ({ certificate }) => certificate && read(certificate);
}
