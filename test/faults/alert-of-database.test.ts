import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ServiceConfig } from '../../src/config/slices.ts';
import { ownServersForSuite, whyNoCluster } from '../cluster/cluster-of-processes.ts';
import { nodesOf } from '../cluster/nodes.ts';
import { SECRET, startReceiver, statuses } from '../receivers/receiver.ts';
import { describeWithRelayedMongo } from '../support/describe-with-mongo.ts';
import { type RunningService, startService } from '../support/service.ts';
import { lockDatabase } from './locked-database.ts';

interface Case {
  readonly apis: readonly RunningService[];
  lose(): unknown;
  restore(): unknown;
  stop(): PromiseLike<void>;
}

const whyNot = await whyNoCluster();

describe('the receivers of --alert', () => {
  function areTold(open: (config: Partial<ServiceConfig>) => Promise<Case>): void {
    it('are told while the database cannot be used, after a failed attempt too, and once when it can again', async () => {
      await using receiver = await startReceiver(statuses(500, 204));
      const { apis, lose, restore, stop } = await open({
        ...{ notify: [`team=webhook:${receiver.url}`], alert: ['team'] },
        ...{ webhookSecret: [SECRET], allowWebhooks: ['127.0.0.1'] },
      });
      const told = () => receiver.received.slice(1).map(({ body }) => JSON.parse(body));
      const ofEach = (degraded: readonly string[]) =>
        apis.map(() => expect.objectContaining({ type: 'pressure.changed', accepting: true, degraded }));
      for (const { service } of apis) await service.started;
      await lose();
      await expect.poll(told).toEqual(ofEach(['database']));
      for (const { service } of apis) expect(service.results.state).toBe('down');
      await restore();
      await expect.poll(told).toEqual([...ofEach(['database']), ...ofEach([])]);
      await stop();
      expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(2 * apis.length);
    });
  }

  describe('of a service with SQLite', () => {
    areTold(async (config) => {
      const app = await startService(config);
      let lock: Disposable;
      return {
        apis: [app],
        lose: async () => {
          lock = lockDatabase(join(app.directory, 'results.db'));
          // A write finds the lock.
          await app.post('/watches', { url: 'http://127.0.0.1/', every: '1h' });
        },
        restore: () => lock[Symbol.dispose](),
        stop: app.stop,
      };
    });
  });

  describeWithRelayedMongo('of a service with MongoDB', (mongo) => {
    areTold(async (config) => {
      const app = await startService({ dbPath: null, mongoUrl: `${mongo.url}alerts`, ...config });
      return { apis: [app], lose: mongo.stop, restore: mongo.start, stop: app.stop };
    });
  });

  describe.skipIf(whyNot !== undefined)('of two api nodes', () => {
    const servers = ownServersForSuite();
    areTold(async (config) => {
      const nodes = await nodesOf(servers, 'alerts', config);
      const apis = [await nodes.api(), await nodes.api()];
      const { stop: lose, start: restore } = servers.mongo;
      return { apis, lose, restore, stop: () => nodes[Symbol.asyncDispose]() };
    });
  });
});
