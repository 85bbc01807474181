import { randomBytes } from 'node:crypto';
import type { LookupFunction } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ArtifactStore, putCapture } from '../../src/storage/ports/artifact-store.ts';
import type { S3Client } from '../../src/storage/s3/client.ts';
import { createS3Store } from '../../src/storage/s3/s3-store.ts';
import type { SweepOptions } from '../../src/storage/s3/sweep.ts';
import { clientOf, describeWithS3, sweepOf } from '../support/s3.ts';
import { describeArtifactStore } from './artifact-store.contract.ts';
import { HTML, IMAGE } from './parts.ts';
import { captureOf, resultOf } from './result-of.ts';

const ID = 300_000_000_000_000;
const PICTURE = { image: IMAGE, html: HTML };

const DOMAIN = 'store.test';
/** The bucket in the host of URLs. The flag goes into the configuration of the server as it is. */
const IN_HOST = ['--conditional-put', '--log-level', `WARNING\nstorage_domain = ${DOMAIN}`];

const STORES = [
  ['with conditional puts', ['--conditional-put']],
  ['without conditional puts', []],
  ['of an old release, without multi delete', ['--release', '2.30']],
  ['with the bucket in the host of URLs', IN_HOST],
] as const;

const toLoopback: LookupFunction = (_, { all }, found) =>
  all === true ? found(null, [{ address: '127.0.0.1', family: 4 }]) : found(null, '127.0.0.1', 4);

for (const [name, flags] of STORES) {
  describeWithS3(
    `the artifact store in an object store ${name}`,
    (server) => {
      let clients: S3Client[] = [];
      let buckets = 0;

      beforeEach(() => {
        buckets += 1;
      });

      afterEach(() => {
        for (const client of clients) client.close();
        clients = [];
      });

      async function open(prefix = 'some/prefix/'): Promise<S3Client> {
        const endpoint = server.endpoint.replace('127.0.0.1', DOMAIN);
        const inHost = flags === IN_HOST && { endpoint, pathStyle: false, lookup: toLoopback };
        const client = await clientOf(server, `bucket-${buckets}`, { prefix, ...inHost });
        clients.push(client);
        return client;
      }

      describeArtifactStore(async () => ({
        open: async () => createS3Store(await open()),
        remove: () => Promise.resolve(),
      }));

      describe('over its objects', () => {
        let client: S3Client;
        let artifacts: ArtifactStore;

        beforeEach(async () => {
          client = await open();
          artifacts = createS3Store(client);
        });

        const keys = async () =>
          (await Array.fromAsync(client.list(''))).flatMap(({ objects }) => objects.map(({ key }) => key));
        const images = async () => (await keys()).filter((key) => key.endsWith('.png')).length;
        const sweep = (options?: Partial<SweepOptions>) => sweepOf(client, options);

        it('reads every range of a large image', async () => {
          const image = randomBytes(2_500_000);
          await putCapture(artifacts, resultOf(ID), { image, html: '' });
          for (const [start, end] of [
            [0, 0],
            [0, 1023],
            [5, image.length - 6],
            [image.length - 1, image.length - 1],
          ]) {
            const file = await artifacts.open(ID, 'image');
            expect(file && (await buffer(file.stream({ start: start ?? 0, end: end ?? 0 })))).toEqual(
              image.subarray(start, (end ?? 0) + 1),
            );
          }
          const html = await artifacts.open(ID, 'html');
          expect(html && (await buffer(html.stream()))).toHaveLength(0);
        });

        it('does not open a file that is gone or shorter than it was', async () => {
          await putCapture(artifacts, resultOf(ID), PICTURE);
          const [image = ''] = (await keys()).filter((key) => key.endsWith('.png'));
          await client.send({ method: 'PUT', key: image, body: Buffer.from('short'), payload: 'UNSIGNED-PAYLOAD' });
          await expect(artifacts.open(ID, 'image')).rejects.toMatchObject({ code: 'artifact_damaged' });
          await client.remove([image]);
          await expect(artifacts.open(ID, 'image')).rejects.toMatchObject({ code: 'artifact_damaged' });
        });

        it('leaves no object of a probe behind', async () => {
          await artifacts.probe();
          expect(await keys()).toEqual([]);
        });

        it('deletes the image of a removed capture after a grace period for its readers', async () => {
          await putCapture(artifacts, resultOf(ID), PICTURE);
          await putCapture(artifacts, resultOf(ID + 1), PICTURE);
          const file = await artifacts.open(ID, 'image');
          await artifacts.remove([ID]);
          expect(await sweep({ readingMs: 600_000 }).pass()).toBe(0);
          expect(file && (await buffer(file.stream()))).toEqual(IMAGE);
          await sweep().pass();
          expect(await images()).toBe(1);
          expect((await keys()).filter((key) => key.startsWith('removed/'))).toEqual([]);
          const other = await artifacts.open(ID + 1, 'image');
          expect(other && (await buffer(other.stream()))).toEqual(IMAGE);
        });

        it('deletes images of uploads that were cut short, and no younger ones', async () => {
          await putCapture(artifacts, resultOf(ID), PICTURE);
          await artifacts.stage(captureOf(ID), PICTURE);
          await artifacts.stage(captureOf(ID + 1, { api_key_name: 'one' }), PICTURE);
          expect(await sweep({ uploadMs: 600_000 }).pass()).toBe(0);
          expect(await images()).toBe(3);
          expect(await sweep().pass()).toBe(2);
          expect(await images()).toBe(1);
          const image = await artifacts.open(ID, 'image');
          expect(image && (await buffer(image.stream()))).toEqual(IMAGE);
        });
      });
    },
    flags,
  );
}
