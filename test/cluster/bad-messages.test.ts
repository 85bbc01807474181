import { deflateRawSync } from 'node:zlib';
import { connect } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { AnyAnnouncement, decode } from '../../src/cluster/messages.ts';
import { subjectsOf } from '../../src/cluster/subjects.ts';
import { exampleResult } from '../support/example-result.ts';
import { type NatsServer, startNats, whyNoNats } from '../support/nats.ts';
import { membersOf, submitted } from './members.ts';

const reason = await whyNoNats();
/** Not JSON, nothing, not objects, not these objects, no deflated data, and 200 MiB that are deflated. */
const BAD = [
  Buffer.of(0, 1, 2),
  Buffer.alloc(0),
  Buffer.from('\0[]'),
  Buffer.from('\0{"kind":"node","type":"claim","n":"x"}'),
  Buffer.of(1, 255, 255),
  Buffer.concat([Buffer.of(1), deflateRawSync(Buffer.alloc(200 * 1024 * 1024, ' '))]),
];

describe.skipIf(reason !== undefined)('a cluster that is sent messages that it cannot read', () => {
  let nats: NatsServer;
  beforeAll(async () => {
    nats = await startNats();
  });
  afterAll(() => nats?.remove());

  async function stranger(name: string) {
    const subjects = subjectsOf(name);
    const connection = await connect({ servers: nats.url });
    onTestFinished(() => connection.close());
    const names = new Map<string, string>();
    const hearing = connection.subscribe(subjects.alive, {
      callback: (_, { data }) => {
        const said = decode(AnyAnnouncement, data);
        if (said !== undefined) names.set(said.kind, said.name);
        if (names.size === 2) hearing.unsubscribe();
      },
    });
    return { subjects, connection, names };
  }

  it('drops and counts them, logs them with a rate, and captures as before', async () => {
    const bad: number[] = [];
    const members = membersOf(nats, 'bad', 5, (count) => bad.push(count));
    const api = await members.api();
    await members.worker(async ({ id }) => ({ state: 'stored', result: exampleResult(id), evidence: null }));
    const { subjects, connection, names } = await stranger('bad');
    await expect.poll(() => names.size).toBe(2);
    const targets = [
      subjects.alive,
      subjects.node(names.get('node') ?? ''),
      subjects.worker(names.get('worker') ?? ''),
    ];
    const before = process.memoryUsage().rss;
    for (let round = 0; round < 10; round += 1) {
      for (const subject of targets) for (const body of BAD) connection.publish(subject, body);
    }
    await connection.flush();
    // Both members hear announcements, and each its own subject.
    const count = () => members.clusters.map((cluster) => cluster.stats().bad_messages);
    await expect.poll(count).toEqual([2 * 10 * BAD.length, 2 * 10 * BAD.length]);
    expect((process.memoryUsage().rss - before) / 2 ** 20).toBeLessThan(150);
    expect(bad).toHaveLength(2);
    expect(await submitted(api, 1).outcome).toMatchObject({ state: 'stored' });
  });

  it('ignores announcements of a kind that a later version knows', async () => {
    const members = membersOf(nats, 'later');
    const api = await members.api();
    await members.worker(async ({ id }) => ({ state: 'stored', result: exampleResult(id), evidence: null }));
    const { subjects, connection } = await stranger('later');
    connection.publish(subjects.alive, Buffer.from('\0{"kind":"observer","name":"x"}'));
    await connection.flush();
    expect(await submitted(api, 1).outcome).toMatchObject({ state: 'stored' });
    expect(members.clusters.map((cluster) => cluster.stats().bad_messages)).toEqual([0, 0]);
  });
});
