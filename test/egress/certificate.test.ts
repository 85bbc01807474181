import { X509Certificate } from 'node:crypto';
import { createServer } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { createTargetPolicy } from '../../src/egress/address-policy.ts';
import { createEgress } from '../../src/egress/create-egress.ts';
import { CERTIFICATE, KEY } from '../receivers/certificate.ts';
import { listening } from './listening.ts';

const policy = createTargetPolicy({ allow: ['127.0.0.0/8'], deny: [] });

describe('certificateOf', () => {
  it('returns the certificate that a host sends, trusted or not', async () => {
    await using server = await listening(createServer({ cert: CERTIFICATE, key: KEY }));
    const egress = createEgress({ policy });
    const { raw } = new X509Certificate(CERTIFICATE);
    const url = new URL(`https://127.0.0.1:${server.port}/`);
    expect(await egress.certificateOf(url, AbortSignal.timeout(10_000))).toEqual({
      version: 'TLS 1.3',
      cipher: expect.stringMatching(/^TLS_/),
      issuer: 'hooks.test',
      subject: 'hooks.test',
      names: ['hooks.test'],
      valid_from: '2026-11-21T10:07:04.000Z',
      valid_to: '2126-10-28T10:07:04.000Z',
      fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
      chain: [raw.toString('base64')],
    });
    await egress.close();
  });

  it('returns null as soon as it is aborted, also while the name is looked up', async () => {
    const over = new AbortController();
    const lookup = () => {
      over.abort();
      return new Promise<never>(() => {});
    };
    const egress = createEgress({ policy, lookup, dialTimeoutMs: 60_000 });
    expect(await egress.certificateOf(new URL('https://late.example/'), over.signal)).toBe(null);
    await egress.close();
  });
});
