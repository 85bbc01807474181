import { beforeAll, describe, expect, it } from 'vitest';
import { inspectS3 } from '../../src/storage/s3/inspect.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { clientOf, describeWithS3, type S3Server, s3Options } from '../support/s3.ts';

const KEPT_NO_CHECKSUM = expect.objectContaining({ found: expect.stringContaining('keeps no SHA-256') });

describeWithS3(
  'the examination of an object store',
  (server) => {
    const inspect = (changed: Partial<S3Server & Parameters<typeof inspectS3>[0]> = {}) =>
      inspectS3({ ...s3Options(server, 'doctor'), ...changed });

    beforeAll(async () => {
      (await clientOf(server, 'doctor')).close();
    });

    it('writes, reads, lists and removes an object, and leaves none', async () => {
      expect(await inspect()).toEqual({ lacks: [KEPT_NO_CHECKSUM] });
      const client = await clientOf(server, 'doctor');
      const pages = await Array.fromAsync(client.list(''));
      client.close();
      expect(pages.flatMap(({ objects }) => objects)).toEqual([]);
    });

    it('names a bucket that is missing, and a store that does not answer', async () => {
      expect(await inspect({ s3Bucket: 'missing' })).toMatchObject({
        failure: { found: expect.stringContaining('NoSuchBucket'), advice: expect.stringContaining('--s3-bucket') },
      });
      expect(await inspect({ s3Endpoint: 'http://127.0.0.1:9' })).toMatchObject({
        failure: { found: expect.stringContaining('ECONNREFUSED'), advice: expect.stringContaining('--s3-endpoint') },
      });
    });

    it('names wrong keys and a wrong region', async () => {
      expect(await inspect({ s3SecretKey: 'wrong' })).toMatchObject({
        failure: { found: expect.stringContaining('SignatureDoesNotMatch'), advice: expect.stringContaining('keys') },
      });
      expect(await inspect({ s3Region: 'eu-west-1' })).toMatchObject({
        failure: { found: expect.stringContaining('us-east-1'), advice: expect.stringContaining('--s3-region') },
      });
    });

    it.each([
      ['PUT', 'written (s3:PutObject)'],
      ['GET /doctor/', 'read (s3:GetObject)'],
      ['GET /doctor?', 'listed (s3:ListBucket)'],
      ['DELETE', 'removed (s3:DeleteObject)'],
    ])('names the right that is missing when %s is refused', async (request, right) => {
      await using proxy = await startFaultProxy(() => server.endpoint);
      proxy.fault = (line) => (line.startsWith(request) ? { status: 403, code: 'AccessDenied' } : undefined);
      expect(await inspect({ s3Endpoint: proxy.endpoint })).toMatchObject({
        failure: { found: expect.stringContaining(right), advice: expect.stringContaining('right') },
      });
    });

    it('names a clock that is wrong', async () => {
      await using proxy = await startFaultProxy(() => server.endpoint);
      proxy.fault = () => ({ status: 403, code: 'RequestTimeTooSkewed' });
      expect(await inspect({ s3Endpoint: proxy.endpoint })).toMatchObject({
        failure: { advice: expect.stringContaining('clock') },
      });
    });

    it('names a bucket that anyone can read', async () => {
      await using proxy = await startFaultProxy(() => server.endpoint);
      proxy.open = true;
      const { lacks } = await inspect({ s3Endpoint: proxy.endpoint });
      expect(lacks).toContainEqual(expect.objectContaining({ found: expect.stringContaining('anyone can read') }));
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
        const { failure, lacks } = await inspectS3(s3Options(server, 'doctor'));
        expect(failure).toBeUndefined();
        expect(lacks).toEqual([
          expect.objectContaining({ found: expect.stringContaining('no conditional put (501)') }),
          KEPT_NO_CHECKSUM,
        ]);
      });
    },
    ['--release', '2.30'],
  );
});
