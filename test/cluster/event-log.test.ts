import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { openCluster } from '../../src/cluster/open-cluster.ts';
import { createFileEventOutbox } from '../../src/storage/files/file-event-outbox.ts';
import { bodies, entry, gist, isGrowing, type Listening, listening, readAll } from '../storage/event-logs.ts';
import { type NatsServer, startNats, whyNoNats } from '../support/nats.ts';
import { makeDirectory } from '../support/temporary-directory.ts';
import { clusterConfig } from './cluster-config.ts';

/**
 * Size of the stream that the tests fill. The tenth that is kept free holds what two processes write between two
 * checks, 64 events of 0.6 kB each: where it does not, the server removes events itself, the oldest of all keys.
 */
const ROOM_BYTES = 1024 * 1024;

const reason = await whyNoNats();

describe.skipIf(reason !== undefined)('the event log of a cluster', () => {
  let nats: NatsServer;
  let directory: string;
  let clusters = 0;

  beforeAll(async () => {
    [nats, directory] = await Promise.all([startNats(), makeDirectory()]);
  });

  afterAll(async () => {
    await nats?.remove();
  });

  interface Node extends Listening {
    /** Ends the process's part: what waits stays in its file. */
    stop(): Promise<void>;
    readonly directory: string;
  }

  function fresh(): string {
    clusters += 1;
    return `events${clusters}`;
  }

  /** A process of a cluster, whose events wait in a directory while NATS is away. */
  async function node(name: string, at = join(directory, `${name}-${Math.random()}`)): Promise<Node> {
    const cluster = openCluster(
      clusterConfig({ natsUrl: [nats.url], clusterName: name, role: 'api', clusterMaxConcurrent: 1, maxQueue: 1 }),
      {
        onState: () => {},
        onProblem: () => {},
        onBadMessages: () => {},
      },
    );
    const log = cluster.openEventLog(createFileEventOutbox(at));
    cluster.start();
    let stopped: Promise<void> | undefined;
    const stop = (): Promise<void> => {
      stopped ??= log.close().then(() => cluster.close());
      return stopped;
    };
    onTestFinished(stop);
    return { ...(await listening(log)), stop, directory: at };
  }

  it('knows when the events so far are stored, although others keep coming', async () => {
    const { log, hear, heard } = await node(fresh());
    log.append(entry('opened'));
    await hear('opened');
    let isStored = false;
    log.append(entry('first'));
    void log.allStored().then(() => {
      isStored = true;
    });
    while (!isStored && heard.length < 500) {
      log.append(entry('more'));
      await new Promise(setImmediate);
    }
    expect(isStored).toBe(true);
  });

  it('sends all events to every process in the same order, and replays them by their ids', async () => {
    const name = fresh();
    const [a, b] = [await node(name), await node(name)];
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
    expect(await readAll(b.log, 0)).toEqual(a.heard);
    expect(await readAll(b.log, a.heard[99]?.id ?? 0)).toEqual(a.heard.slice(100));
  });

  it('ends a page that is large, and goes on after it', async () => {
    const { log, hear, heard, floor } = await node(fresh());
    const last = `last${'x'.repeat(100_000)}`;
    for (let n = 0; n < 59; n += 1) log.append(entry(`${n}${'x'.repeat(100_000)}`));
    log.append(entry(last));
    await hear(last);
    expect((await log.read(floor, 200)).length).toBeLessThan(30);
    expect(await readAll(log, floor, 200)).toEqual(heard);
  });

  it('neither loses nor repeats an event when NATS is killed while events are published', async () => {
    const name = fresh();
    const [a, b] = [await node(name), await node(name)];
    const sent: string[] = [];
    const append = (): void => {
      for (const [letter, { log }] of Object.entries({ a, b })) {
        sent.push(`${letter}${sent.length}`);
        log.append(entry(sent.at(-1) ?? ''));
      }
    };
    for (let round = 0; round < 4; round += 1) {
      for (let n = 0; n < 100; n += 1) append();
      // Some of them are under way.
      await a.hear(sent.at(-200) ?? '');
      await nats.kill();
      for (let n = 0; n < 100; n += 1) append();
      await nats.start();
    }
    await Promise.all([a, b].flatMap(({ hear }) => [hear(sent.at(-1) ?? ''), hear(sent.at(-2) ?? '')]));
    expect(bodies(a.heard).toSorted()).toEqual(sent.toSorted());
    expect(a.heard).toEqual(b.heard);
    expect(isGrowing(a.heard)).toBe(true);
    expect(await readAll(b.log, 0)).toEqual(a.heard);
  });

  it('publishes what a process left on disk that ended while NATS was away', async () => {
    const name = fresh();
    const [a, b] = [await node(name), await node(name)];
    a.log.append(entry('before'));
    await Promise.all([a.hear('before'), b.hear('before')]);
    await nats.kill();
    a.log.append(entry('while away'));
    const files = async () => (await readdir(join(a.directory, 'events'))).filter((file) => !file.endsWith('.lock'));
    await expect.poll(files).toHaveLength(1);
    await a.stop();
    await nats.start();
    const next = await node(name, a.directory);
    next.log.append(entry('after'));
    await Promise.all([b.hear('while away'), b.hear('after')]);
    expect(bodies(await readAll(next.log, 0))).toEqual(bodies(b.heard));
    expect(bodies(b.heard).filter((body) => body === 'while away')).toHaveLength(1);
  });

  it('stores an event with a key once, whoever reports it', async () => {
    const name = fresh();
    const [a, b] = [await node(name), await node(name)];
    a.log.append({ ...entry('stored'), key: 'ended-7' });
    await b.hear('stored');
    b.log.append({ ...entry('stored'), key: 'ended-7' });
    b.log.append(entry('last'));
    await a.hear('last');
    expect(bodies(a.heard)).toEqual(['stored', 'last']);
  });

  it('removes events of the API key with the most when it is full, with a gap only for this key', async () => {
    const name = fresh();
    const connection = await connect({ servers: nats.url });
    onTestFinished(() => connection.close());
    const { streams } = await jetstreamManager(connection);
    const first = await node(name);
    await first.stop();
    const { config, state } = await streams.info(`${name}-events`);
    await streams.update(`${name}-events`, { ...config, max_bytes: state.bytes + ROOM_BYTES });
    const [a, b] = [await node(name), await node(name)];
    const quiet = Array.from({ length: 50 }, (_, n) => ({ ...entry(`quiet ${n}`), api_key_name: 'quiet.shop' }));
    const others = Array.from({ length: 50 }, (_, n) => entry(`other ${n}`));
    for (const [n, event] of quiet.entries()) {
      b.log.append({ ...event, ...(n % 2 === 0 && { key: `ended-${n}` }) });
      a.log.append(others[n] ?? entry(''));
    }
    await Promise.all([a.hear('quiet 49'), a.hear('other 49')]);
    const before = a.heard.length;
    const long = 'x'.repeat(300);
    for (let n = 0; n < 4000; n += 1) {
      const ended = n % 2 === 0 ? {} : { key: `ended-${1000 + n}` };
      (n % 3 === 0 ? b : a).log.append({ ...entry(`flood ${n} ${long}`), api_key_name: 'flood', ...ended });
    }
    await Promise.all([a, b].flatMap(({ hear }) => [hear(`flood 3998 ${long}`), hear(`flood 3999 ${long}`)]));

    const kept = await readAll(b.log, 0, 100);
    const ofKey = (key: string | undefined) => kept.filter(({ api_key_name }) => api_key_name === key);
    expect(bodies(ofKey('quiet.shop'))).toEqual(quiet.map(({ body }) => body));
    expect(bodies(ofKey(undefined))).toEqual(others.map(({ body }) => body));
    const flood = gist(ofKey('flood'));
    expect(flood.filter((text) => text.startsWith('gap'))).toContain('gap: too_old');
    expect(flood.at(-1)).toMatch(/^flood 39/);
    expect(flood.length).toBeGreaterThan(400);
    // The remaining events are those that were sent, in the same order.
    const left = new Set(kept.map(({ id }) => id));
    expect(kept).toEqual(a.heard.filter(({ id }) => left.has(id)));
    expect(a.heard).toEqual(b.heard);
    expect(await readAll(a.log, a.heard[before - 1]?.id ?? 0, 100)).toEqual(kept.slice(before));
    const { state: after } = await streams.info(`${name}-events`);
    expect(after.bytes).toBeLessThan(state.bytes + 0.9 * ROOM_BYTES);
  });

  it('shows a gap in place of events that are too old, and gives greater ids when the stream was lost', async () => {
    const name = fresh();
    const a = await node(name);
    for (let n = 0; n < 10; n += 1) a.log.append(entry(`old ${n}`));
    await a.hear('old 9');
    const connection = await connect({ servers: nats.url });
    onTestFinished(() => connection.close());
    const { streams } = await jetstreamManager(connection);
    await streams.purge(`${name}-events`, { keep: 3 });
    expect(gist(await readAll(a.log, a.heard[1]?.id ?? 0))).toEqual(['gap: too_old', 'old 7', 'old 8', 'old 9']);
    expect(gist(await readAll(a.log, a.heard[7]?.id ?? 0))).toEqual(['old 8', 'old 9']);
    await streams.delete(`${name}-events`);
    a.log.append(entry('new'));
    await a.hear('new');
    expect(isGrowing(a.heard)).toBe(true);
    const b = await node(name);
    expect(gist(await readAll(b.log, a.heard[9]?.id ?? 0))).toEqual(['gap: too_old', 'new']);
    // An event that cannot be read, as one of a later version, does not hide those after it.
    connection.publish(`${name}.events.by.later.-`, 'nonsense');
    await connection.flush();
    b.log.append(entry('newer'));
    await Promise.all([a.hear('newer'), b.hear('newer')]);
    expect(gist(await readAll(a.log, a.heard[9]?.id ?? 0))).toEqual(['gap: too_old', 'new', 'newer']);
  });
});
