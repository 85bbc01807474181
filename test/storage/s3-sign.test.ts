import { expect, it } from 'vitest';
import { EMPTY, presignedQuery, signedHeaders } from '../../src/storage/s3/sign.ts';

/* The examples in Amazon's documentation of Signature Version 4, which name the bucket in the host. */
const SIGNER = {
  region: 'us-east-1',
  credentials: {
    accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
    secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  },
  now: new Date('2013-05-24T00:00:00Z'),
};
const PLACE = { host: 'examplebucket.s3.amazonaws.com', path: '/' };

it.each([
  [
    '/test.txt with a range',
    { path: '/test.txt', headers: { range: 'bytes=0-9' } },
    'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  ],
  ['?lifecycle', { query: { lifecycle: '' } }, 'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543'],
  [
    '?max-keys=2&prefix=J',
    { query: { 'max-keys': '2', prefix: 'J' } },
    '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
  ],
])('signs GET %s as Amazon documents', (_, wanted, signature) => {
  const request = { method: 'GET', headers: {}, ...PLACE, ...wanted };
  expect(signedHeaders(request, { ...SIGNER, payload: EMPTY }).authorization).toContain(`Signature=${signature}`);
});

it('presigns a URL as Amazon documents', () => {
  const query = presignedQuery({ ...PLACE, path: '/test.txt' }, SIGNER, 86_400);
  expect(query).toContain('X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404');
});
