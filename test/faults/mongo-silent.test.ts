import { expect, it } from 'vitest';
import { ground, serve } from '../commands/capstan-process.ts';
import { startHoldingServer } from '../storage/slow-server.ts';
import { describeWithSharedMongo } from '../support/describe-with-mongo.ts';
import { siteForSuite } from '../support/for-suite.ts';
import { captureMany } from './away.ts';
import { stats } from './client.ts';

describeWithSharedMongo('a service with a MongoDB server that stops answering', (server) => {
  const site = siteForSuite();

  it('answers reads and removals with 503 after the timeoutMS of the URL, and in full when the server answers again', async () => {
    await using held = await startHoldingServer(server());
    const database = `${held.url}${new URL(server()).pathname.slice(1)}silent`;
    const start = async (mongoUrl: string) =>
      serve(
        ['--allow-targets', '127.0.0.1', '--artifacts', 'gridfs', '--mongo-url', mongoUrl],
        (await ground()).options,
      );
    const bounded = await start(`${database}?timeoutMS=500`);
    const patient = await start(database);
    const [kept, removed] = await captureMany(bounded, site.url('/title?t=kept'), 2);
    await expect.poll(async () => (await stats(bounded.url)).store.outbox).toBe(0);
    const paths = [
      `/results/${kept?.id}`,
      '/results?status=200',
      '/results?text=kept',
      `/screenshot/${kept?.id}`,
      '/jobs/unknown',
    ];
    const read = () => Promise.all(paths.map((path) => fetch(bounded.url + path)));
    held.hold('');
    // Sent first, so that it would be given up first with the same limit.
    const late = fetch(`${patient.url}/results/${kept?.id}`);
    const removal = fetch(`${bounded.url}/screenshot/${removed?.id}`, { method: 'DELETE' });
    for (const answer of [...(await read()), await removal]) {
      expect({ url: answer.url, status: answer.status, body: await answer.json() }).toMatchObject({
        status: 503,
        body: { code: 'database_unavailable' },
      });
    }
    held.release();
    expect((await late).status).toBe(200);
    await expect.poll(async () => (await read()).map(({ status }) => status)).toEqual([...Array(4).fill(200), 404]);
    for (const service of [bounded, patient]) {
      service.child.kill('SIGTERM');
      expect(await service.ended).toMatchObject({ code: 0 });
    }
  });
});
