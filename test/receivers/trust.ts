import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll } from 'vitest';
import { CERTIFICATE } from './certificate.ts';

/** Lets this process trust the certificate of hooks.test, for one suite. */
export function trustForSuite(): void {
  const trusted = getCACertificates();
  beforeAll(() => setDefaultCACertificates([...trusted, CERTIFICATE]));
  afterAll(() => setDefaultCACertificates(trusted));
}
