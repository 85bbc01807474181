import type { LookupFunction } from 'node:net';
import { afterEach, beforeEach } from 'vitest';
import { s3Backend } from '../../src/storage/s3/backend.ts';
import type { S3Client } from '../../src/storage/s3/client.ts';
import { clientOf, describeWithS3 } from '../support/s3.ts';
import { describeRemoteStore } from './remote-store.contract.ts';

const DOMAIN = 'store.test';
/** The bucket in the host of URLs. The flag goes into the configuration of the server as it is. */
const IN_HOST = ['--conditional-put', '--log-level', `WARNING\nstorage_domain = ${DOMAIN}`];

const STORES = [
  ['with conditional puts, and the bucket in the host of URLs', IN_HOST],
  ['of an old release, without conditional puts, which removes many only under a digest', ['--release', '2.30']],
] as const;

const toLoopback: LookupFunction = (_, { all }, found) =>
  all === true ? found(null, [{ address: '127.0.0.1', family: 4 }]) : found(null, '127.0.0.1', 4);

for (const [name, flags] of STORES) {
  describeWithS3(
    `the artifact store in an object store ${name}`,
    (server) => {
      let clients: S3Client[] = [];
      let places = 0;

      beforeEach(() => {
        places += 1;
      });

      afterEach(() => {
        for (const client of clients) client.close();
        clients = [];
      });

      describeRemoteStore(async () => {
        const endpoint = server.endpoint.replace('127.0.0.1', DOMAIN);
        const inHost = flags === IN_HOST && { s3Endpoint: endpoint, s3Addressing: 'virtual' as const };
        const changed = { s3Prefix: `some/prefix-${places}`, ...inHost };
        const client = await clientOf(server, 'bucket', { lookup: toLoopback }, changed);
        clients.push(client);
        return s3Backend(client);
      });
    },
    flags,
  );
}
