import { MongoClient } from 'mongodb';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createMongoEventLog } from '../../src/storage/mongo/event-log.ts';
import { type MongoServer, startMongo, whyNoMongo } from '../support/mongo.ts';
import { bodies, entry, gist, isGrowing, type Listening, listening, readAll } from './event-logs.ts';

const reason = await whyNoMongo();

describe.skipIf(reason !== undefined)('the log that processes share, in MongoDB', () => {
  let server: MongoServer;
  let databases = 0;
  const opened: { readonly log: Listening['log']; readonly client: MongoClient }[] = [];

  beforeAll(async () => {
    server = await startMongo();
  });

  afterEach(async () => {
    await Promise.all(opened.map(({ log }) => log.close()));
    await Promise.all(opened.splice(0).map(({ client }) => client.close()));
  });

  afterAll(() => server?.remove());

  function fresh(): string {
    databases += 1;
    return `events${databases}`;
  }

  /** The log of a process, with a client of its own. */
  async function open(database: string, clock = Date.now, cappedBytes?: number): Promise<Listening> {
    const client = new MongoClient(server.url, { serverSelectionTimeoutMS: 500, heartbeatFrequencyMS: 500 });
    const log = createMongoEventLog({
      database: client.db(database),
      clock,
      node: () => opened.length,
      ...(cappedBytes === undefined ? {} : { cappedBytes }),
    });
    opened.push({ log, client });
    return listening(log);
  }

  it('delivers all events to every process in the same order, with increasing ids', async () => {
    const database = fresh();
    const [a, b] = [await open(database), await open(database, () => Date.now() - 60_000)];
    for (let n = 0; n < 200; n += 1) {
      a.log.append(entry(`a${n}`));
      b.log.append(entry(`b${n}`));
      if (n % 10 === 0) await new Promise(setImmediate);
    }
    await Promise.all([a, b].flatMap(({ hear }) => [hear('a199'), hear('b199')]));
    expect(a.heard).toEqual(b.heard);
    expect(isGrowing(a.heard)).toBe(true);
    const own = (letter: string) => bodies(a.heard).filter((body) => body.startsWith(letter));
    expect(own('a')).toEqual(Array.from({ length: 200 }, (_, n) => `a${n}`));
    expect(own('b')).toEqual(Array.from({ length: 200 }, (_, n) => `b${n}`));
    expect(await readAll(b.log, a.heard[99]?.id ?? 0)).toEqual(a.heard.slice(100));
  });

  it('shows a gap in place of events that are too old', async () => {
    const { log, hear, heard } = await open(fresh(), Date.now, 16 * 1024);
    for (let n = 0; n < 60; n += 1) {
      log.append(entry(`${n} ${'x'.repeat(1000)}`));
      await hear(`${n} ${'x'.repeat(1000)}`);
    }
    const [first, ...rest] = await readAll(log, heard[0]?.id ?? 0);
    expect(gist(first === undefined ? [] : [first])).toEqual(['gap: too_old']);
    expect(rest.length).toBeGreaterThan(5);
    expect(rest).toEqual(heard.slice(-rest.length));
  });

  it('continues while the server is away, and then writes the events of that time or notes a gap', async () => {
    const [alone, shared] = [fresh(), fresh()];
    const [one, a, b] = [await open(alone), await open(shared), await open(shared)];
    one.log.append(entry('before'));
    await one.hear('before');
    await server.stop();
    for (const [{ log, hear }, body] of [
      [one, 'away'],
      [a, 'a away'],
      [b, 'b away'],
    ] as const) {
      log.append(entry(body));
      await hear(body);
    }
    await expect(one.log.read(one.floor, 10)).rejects.toMatchObject({ code: 'database_unavailable' });
    await server.start();

    await expect.poll(logged(one), POLL).toEqual(['before', 'away']);
    one.log.append(entry('after'));
    await one.hear('after');
    expect(gist(one.heard)).toEqual(['before', 'away', 'after']);
    expect(await readAll(one.log, one.floor)).toEqual(one.heard);

    // The process that reconnects first writes its events; the other may have a gap in place of its own.
    await expect
      .poll(logged(a), POLL)
      .toSatisfy((all: readonly string[]) => ['a away,b away', 'b away,gap: not_written'].includes(all.join()));
    a.log.append(entry('a after'));
    await Promise.all([a.hear('a after'), b.hear('a after')]);
    b.log.append(entry('b after'));
    // The other process may receive an event first.
    await Promise.all([a.hear('b after'), b.hear('b after')]);
    for (const [{ heard }, other] of [
      [a, 'b away'],
      [b, 'a away'],
    ] as const) {
      expect(isGrowing(heard)).toBe(true);
      const [, between, ...after] = gist(heard);
      expect([other, 'gap: not_written']).toContain(between);
      expect(after).toEqual(['a after', 'b after']);
    }
  }, 120_000);
});

const POLL = { timeout: 30_000 };

function logged({ log, floor }: Listening) {
  return () => readAll(log, floor).then(gist, () => []);
}
