import { createServer } from 'node:https';
import { beforeAll, describe, expect, it } from 'vitest';
import { type ArtifactsConfig, examineArtifacts } from '../../src/doctor/artifacts.ts';
import { listening } from '../egress/listening.ts';
import { CERTIFICATE, KEY } from '../receivers/certificate.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { clientOf, describeWithS3, s3Options } from '../support/s3.ts';

const found = (state: string, text: string, advice = '') =>
  expect.objectContaining({ state, found: expect.stringContaining(text), advice: expect.stringContaining(advice) });
const USABLE = found('ok', 'bucket "doctor": objects can be written, read, listed and removed');
const KEPT_NO_CHECKSUM = found('warning', 'keeps no SHA-256', 'db check --contents');

describeWithS3(
  'the examination of an object store',
  (server) => {
    const examine = (changed: Partial<ArtifactsConfig> = {}) =>
      examineArtifacts({ ...s3Options(server, 'doctor'), ...changed });

    beforeAll(async () => {
      (await clientOf(server, 'doctor')).close();
    });

    it('writes, reads, lists and removes an object, and leaves none', async () => {
      expect(await examine()).toEqual([USABLE, KEPT_NO_CHECKSUM]);
      const client = await clientOf(server, 'doctor');
      const pages = await Array.fromAsync(client.list(''));
      client.close();
      expect(pages.flatMap(({ objects }) => objects)).toEqual([]);
    });

    it('names a bucket that is missing, and a store that does not answer', async () => {
      expect(await examine({ s3Bucket: 'missing' })).toEqual([found('failure', 'NoSuchBucket', '--s3-bucket')]);
      expect(await examine({ s3Endpoint: 'http://127.0.0.1:9' })).toEqual([
        found('failure', 'ECONNREFUSED', '--s3-endpoint'),
      ]);
    });

    it('says what to do when a store speaks no TLS, or has a certificate of an authority that is not known', async () => {
      const s3Endpoint = server.endpoint.replace('http:', 'https:');
      expect(await examine({ s3Endpoint })).toEqual([found('failure', 'EPROTO', 'begin it with http://')]);
      await using store = await listening(createServer({ key: KEY, cert: CERTIFICATE }));
      expect(await examine({ s3Endpoint: `https://127.0.0.1:${store.port}` })).toEqual([
        found('failure', 'certificate', 'NODE_EXTRA_CA_CERTS'),
      ]);
    });

    it('names wrong keys and a wrong region', async () => {
      expect(await examine({ s3SecretKey: 'wrong' })).toEqual([found('failure', 'SignatureDoesNotMatch', 'keys')]);
      expect(await examine({ s3Region: 'eu-west-1' })).toEqual([found('failure', 'us-east-1', '--s3-region')]);
    });

    it.each([
      ['PUT', 'written (s3:PutObject)'],
      ['GET /doctor/', 'read (s3:GetObject)'],
      ['GET /doctor?', 'listed (s3:ListBucket)'],
      ['DELETE', 'removed (s3:DeleteObject)'],
    ])('names the right that is missing when %s is refused', async (request, right) => {
      await using proxy = await startFaultProxy(() => server.endpoint);
      proxy.fault = (line) => (line.startsWith(request) ? { status: 403, code: 'AccessDenied' } : undefined);
      expect(await examine({ s3Endpoint: proxy.endpoint })).toEqual([found('failure', right, 'right')]);
    });

    it('names a clock that is wrong', async () => {
      await using proxy = await startFaultProxy(() => server.endpoint);
      proxy.headers = { date: new Date(Date.now() - 300_000).toUTCString() };
      expect(await examine({ s3Endpoint: proxy.endpoint })).toContainEqual(found('warning', 'differ by 30', 'clock'));
      proxy.fault = () => ({ status: 403, code: 'RequestTimeTooSkewed' });
      expect(await examine({ s3Endpoint: proxy.endpoint })).toEqual([found('failure', 'written', 'clock')]);
    });

    it('names a bucket that anyone can read', async () => {
      await using proxy = await startFaultProxy(() => server.endpoint);
      proxy.open = true;
      expect(await examine({ s3Endpoint: proxy.endpoint })).toContainEqual(found('warning', 'anyone can read'));
    });

    it('names a store that removes objects one by one only', async () => {
      await using proxy = await startFaultProxy(() => server.endpoint);
      proxy.fault = (line) => (line.startsWith('POST') ? { status: 501, code: 'NotImplemented' } : undefined);
      expect(await examine({ s3Endpoint: proxy.endpoint })).toContainEqual(
        found('warning', 'each removed capture costs two requests'),
      );
    });
  },
  ['--conditional-put'],
);

describe('an object store of an old release', () => {
  describeWithS3(
    'without conditional puts',
    (server) => {
      it('is named with what follows from it', async () => {
        (await clientOf(server, 'doctor')).close();
        expect(await examineArtifacts(s3Options(server, 'doctor'))).toEqual([
          USABLE,
          found('warning', 'no conditional put (501)', 'nothing to do for one process'),
          KEPT_NO_CHECKSUM,
        ]);
      });
    },
    ['--release', '2.30'],
  );
});
