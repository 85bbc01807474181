import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from '@nats-io/transport-node';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createFileEventOutbox } from '../../src/storage/files/file-event-outbox.ts';
import { entry, listening } from '../storage/event-logs.ts';
import { exampleResult } from '../support/example-result.ts';
import { startNats, whyNoNats } from '../support/nats.ts';
import { makeDirectory } from '../support/temporary-directory.ts';
import { membersOf, submitted } from './members.ts';

const reason = await whyNoNats();

/** Returns the users of the documentation. */
async function documentedUsers(): Promise<string> {
  const page = await readFile(join(import.meta.dirname, '../../docs/security.md'), 'utf8');
  const [, users] = /```text\n(authorization \{[\s\S]*?)```/.exec(page) ?? [];
  if (users === undefined) throw new Error('the page has no users');
  return users;
}

describe.skipIf(reason !== undefined)('a NATS server with the documented users', () => {
  it('lets api nodes and workers do their work, and a worker neither queue captures nor read events', async () => {
    const directory = await makeDirectory();
    const configuration = join(directory, 'nats.conf');
    await writeFile(configuration, await documentedUsers());
    const nats = await startNats(['--config', configuration]);
    onTestFinished(() => nats.remove());
    const as = (user: string) => ({ ...nats, url: nats.url.replace('//', `//${user}@`) });
    const apis = membersOf(as('api:change-me-1'), 'capstan');
    const problems: string[] = [];
    const workers = membersOf(as('worker:change-me-2'), 'capstan', 5, undefined, (problem) => {
      problems.push(problem instanceof Error ? problem.message : String(problem));
    });
    // A worker may start first: it cannot create the streams, says so, and begins when an api node has created them.
    await workers.worker(async ({ id }) => ({ state: 'stored', result: exampleResult(id), evidence: null }));
    await expect.poll(() => problems.length).toBeGreaterThan(0);
    const api = await apis.api();
    expect(await submitted(api, 1).outcome).toMatchObject({ state: 'stored' });

    const other = await apis.api();
    await expect.poll(() => apis.clusters.at(-1)?.stats().nodes).toBe(2);
    expect(await other.inFlight({ limit: 1 })).toEqual({ captures: [], missing: '' });

    const logs = [...apis.clusters, ...workers.clusters].map((cluster, at) =>
      cluster.openEventLog(createFileEventOutbox(join(directory, String(at)))),
    );
    const [read, written] = logs;
    if (read === undefined || written === undefined) throw new Error('there are two logs');
    onTestFinished(() => Promise.all(logs.map((log) => log.close())).then(() => undefined));
    const { hear } = await listening(read);
    written.append(entry('of a worker'));
    await hear('of a worker');

    const worker = await connect({ servers: nats.url, user: 'worker', pass: 'change-me-2' });
    onTestFinished(() => worker.close());
    const refusals: string[] = [];
    for (const subject of ['capstan.logged.>', 'capstan.node.*', 'capstan.ask.*', 'capstan.inbox.api.>']) {
      worker.subscribe(subject, {
        callback: (error) => {
          refusals.push(String(error?.message));
        },
      });
    }
    await expect.poll(() => refusals.length).toBe(4);
    expect([...refusals, ...problems].filter((each) => !/Permissions Violation/i.test(each))).toEqual([]);
    expect(problems).toEqual([...new Set(problems)]);
  });
});
