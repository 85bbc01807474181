import net, { type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { createStorage } from '../../src/storage/storage.ts';
import { describeWithSharedMongo } from '../support/describe-with-mongo.ts';
import { makeDirectory } from '../support/temporary-directory.ts';

describeWithSharedMongo('a MongoDB that ends during the start of a process', (mongo) => {
  /** Opens the stores; after this number of answers, the server is gone. Returns whether the start needed more. */
  async function startsWithout(answers: number): Promise<{ readonly state: string; readonly isCut: boolean }> {
    const dataDir = await makeDirectory();
    await using server = await startEndingServer(mongo(), answers);
    const storage = await createStorage({ dataDir, mongoUrl: server.url, artifacts: 'gridfs' });
    const isCut = server.hasEnded;
    const { state } = storage.results;
    await storage.close();
    return { state, isCut };
  }

  it('does not end the start, whichever answer is its last', async () => {
    // Creates the collections and indexes, so that later starts only read.
    expect(await startsWithout(Number.POSITIVE_INFINITY)).toEqual({ state: 'up', isCut: false });
    const lasts = Array.from({ length: 30 }, (_, index) => index + 1);
    const starts = await Promise.allSettled(lasts.map(startsWithout));
    expect(starts.filter(({ status }) => status === 'rejected')).toEqual([]);
    // Then each answer of a start was the last one once.
    expect(starts.at(-1)).toMatchObject({ value: { isCut: false } });
    const cut = starts.filter((start) => start.status === 'fulfilled' && start.value.isCut);
    expect(cut.length).toBeGreaterThan(5);
  });
});

/** A MongoDB server that is gone, with all its connections, after it has sent a number of answers. */
async function startEndingServer(url: string, answers: number) {
  const { hostname, port, pathname: database } = new URL(url);
  const sockets = new Set<Socket>();
  let left = answers;
  const server = net.createServer((client) => {
    const upstream = net.connect({ host: hostname, port: Number(port) });
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.once('close', () => {
        client.destroy();
        upstream.destroy();
        sockets.delete(socket);
      });
    }
    client.pipe(upstream);
    upstream.on('data', (chunk) => {
      if (left > 0) client.write(chunk);
      left -= 1;
      if (left === 0) end();
    });
  });
  const end = (): void => {
    server.close();
    for (const socket of sockets) socket.destroySoon();
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('the server has no port');
  return {
    url: `mongodb://127.0.0.1:${address.port}${database}`,
    get hasEnded() {
      return left <= 0;
    },
    [Symbol.asyncDispose]: async () => end(),
  };
}
