import { expect, it } from 'vitest';
import { SECRET, startReceiver } from '../receivers/receiver.ts';
import { describeWithRelayedMongo } from '../support/describe-with-mongo.ts';
import { startService } from '../support/service.ts';

describeWithRelayedMongo('a service with MongoDB', (mongo) => {
  it('tells the receivers of --alert when the database cannot be used, and when it can again', async () => {
    await using receiver = await startReceiver();
    const app = await startService({
      ...{ dbPath: null, mongoUrl: `${mongo.url}alerts`, notify: [`team=webhook:${receiver.url}`], alert: ['team'] },
      ...{ webhookSecret: [SECRET], allowWebhooks: ['127.0.0.1'] },
    });
    const last = () => JSON.parse(receiver.received.at(-1)?.body ?? '{}');
    const change = (degraded: readonly string[]) =>
      expect.objectContaining({ type: 'pressure.changed', accepting: true, degraded });
    await mongo.stop();
    await expect.poll(last).toEqual(change(['database']));
    await mongo.start();
    await expect.poll(last).toEqual(change([]));
    await app.stop();
  });
});
