import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import type { CaptureCommand } from '../../src/capture/command.ts';
import type { CapstanError } from '../../src/capture/errors.ts';
import type { CaptureOutcome } from '../../src/capture/outcome.ts';
import { captureRequest } from '../support/capture-request.ts';
import { exampleResult } from '../support/example-result.ts';
import { type NatsServer, startNats, whyNoNats } from '../support/nats.ts';
import { commandOf, membersOf, submitted } from './members.ts';

const whyNot = await whyNoNats();
const reason = whyNot === undefined ? '' : ` (skipped: ${whyNot})`;

const stored = ({ id }: { readonly id: number }): CaptureOutcome => ({
  state: 'stored',
  result: exampleResult(id),
  evidence: null,
});

/** Captures until the command is cancelled. */
const endless = ({ signal }: CaptureCommand): Promise<CaptureOutcome> =>
  new Promise((resolve) => {
    signal.addEventListener('abort', () => {
      const { code, message }: CapstanError = signal.reason;
      resolve({ state: 'cancelled', failure: { code, reason: message } });
    });
  });

describe.skipIf(whyNot !== undefined)(`tickets of a cluster${reason}`, () => {
  let nats: NatsServer | undefined;
  beforeAll(async () => {
    nats = await startNats();
  });
  afterAll(() => nats?.remove());
  const members = (test: TestContext, name: string, maxConcurrent?: number) => {
    if (nats === undefined) throw new Error('NATS runs from the first test on');
    return membersOf(nats, name, maxConcurrent, undefined, undefined, test);
  };

  it.concurrent('fail the capture with worker_lost when three workers were lost with it', async (test) => {
    const { expect } = test;
    const cluster = members(test, 'lost');
    const api = await cluster.api();
    const stranger = await cluster.stranger();
    const { outcome } = submitted(api, 1);
    for (const attempt of [1, 2, 3]) {
      expect(await stranger.lose(`lost-${attempt}`)).toMatchObject({ type: 'run', attempt });
    }
    expect(await stranger.lose('lost-4')).toEqual({ type: 'gone' });
    expect(await outcome).toMatchObject({ state: 'failed', failure: { code: 'worker_lost' } });
  });

  it.concurrent('fail the capture when the worker cannot read its request, and free the slot', async (test) => {
    const { expect } = test;
    if (nats === undefined) throw new Error('NATS runs from the first test on');
    const problems: unknown[] = [];
    const cluster = membersOf(nats, 'unreadable', 5, undefined, (problem) => problems.push(problem), test);
    const api = await cluster.api();
    const worker = await cluster.worker(async (command) => stored(command));
    const request = captureRequest('http://example.com/');
    const unreadable = submitted(api, 1, { ...request, target: { ...request.target, url: 'http://' } });
    expect(await unreadable.outcome).toMatchObject({ state: 'failed', failure: { code: 'internal' } });
    expect(await submitted(api, 2).outcome).toMatchObject({ state: 'stored' });
    expect(worker.running).toBe(0);
    expect(problems).toHaveLength(1);
  });

  it.concurrent('are answered from the record when an earlier worker has stored the capture', async (test) => {
    const { expect } = test;
    const cluster = members(test, 'recorded');
    const api = await cluster.api();
    const stranger = await cluster.stranger();
    const { outcome } = submitted(api, 7);
    await stranger.lose('stored-it');
    const captured: number[] = [];
    await cluster.worker(
      async (command) => {
        captured.push(command.id);
        return stored(command);
      },
      { findOutcome: async (id) => stored({ id }) },
    );
    expect(await outcome).toEqual(stored({ id: 7 }));
    expect(captured).toEqual([]);
    await expect.poll(() => stranger.tickets()).toBe(0);
  });

  it.concurrent('are published again when the stream has lost them', async (test) => {
    const { expect } = test;
    const cluster = members(test, 'vanished');
    const api = await cluster.api();
    const stranger = await cluster.stranger();
    const { outcome } = submitted(api, 1);
    await expect.poll(() => stranger.tickets()).toBe(1);
    await stranger.removeTicket();
    expect(await stranger.tickets()).toBe(0);
    await expect.poll(() => stranger.tickets()).toBe(1);
    await cluster.worker(async (command) => stored(command));
    expect(await outcome).toEqual(stored({ id: 1 }));
  });

  it.concurrent('are removed with their places when their api node has ended, although no worker takes them', async (test) => {
    const { expect } = test;
    const cluster = members(test, 'orphans', 10);
    const apis = [await cluster.api(), await cluster.api()];
    const stranger = await cluster.stranger();
    const captures = apis.map((api, at) => submitted(api, at + 1));
    await expect.poll(() => stranger.tickets()).toBe(2);
    for (const id of [11, 12, 13]) await stranger.leaveTicket(id);
    for (const id of [11, 12, 13]) await stranger.leavePlace(id);
    expect([await stranger.tickets(), await stranger.places()]).toEqual([5, 5]);
    await expect.poll(() => stranger.tickets()).toBe(2);
    await expect.poll(() => stranger.places()).toBe(2);
    await cluster.worker(async (command) => stored(command));
    expect(await Promise.all(captures.map(({ outcome }) => outcome))).toEqual([stored({ id: 1 }), stored({ id: 2 })]);
    await expect.poll(() => stranger.places()).toBe(0);
  });

  it.concurrent.for(['its api node has ended', 'no client waits for it any more'])(
    'stay with the worker that has them when %s, so that a record of a killed worker gets its event',
    async (why, test) => {
      const { expect } = test;
      const hasEnded = why.includes('ended');
      const cluster = members(test, hasEnded ? 'outlived' : 'unwanted');
      const api = await cluster.api();
      const stranger = await cluster.stranger();
      await stranger.neverRedeliver();
      const { outcome, hangUp } = submitted(api, 1);
      outcome.catch(() => undefined);
      const { node, giveBack } = await stranger.hold('killed');
      if (hasEnded) {
        await cluster.clusters[0]?.close();
        await cluster.api();
      } else hangUp();
      // No worker has this ticket: it is removed together with all that nobody waits for.
      await stranger.leaveTicket(2, node);
      await expect.poll(() => stranger.ids()).not.toContain(2);
      const logged: CaptureOutcome[] = [];
      await cluster.worker(async (command) => stored(command), {
        findOutcome: async (id) => stored({ id }),
        logEnd: async (end) => void logged.push(end),
      });
      giveBack();
      await expect.poll(() => stranger.tickets()).toBe(0);
      expect(logged).toEqual([stored({ id: 1 })]);
    },
  );

  it.concurrent('are acknowledged only after the event of a capture that nobody waits for was stored', async (test) => {
    const { expect } = test;
    const cluster = members(test, 'logged');
    const api = await cluster.api();
    const stranger = await cluster.stranger();
    const event = Promise.withResolvers<void>();
    let logs = 0;
    await cluster.worker(async (command) => stored(command), {
      findOutcome: async (id) => {
        // The database is away at first.
        logs += 1;
        if (logs < 3) throw new Error('the database is away');
        return stored({ id });
      },
      logEnd: () => event.promise,
    });
    await stranger.leaveTicket(1);
    await expect.poll(() => logs).toBe(3);
    await submitted(api, 2).outcome;
    await expect.poll(() => stranger.ids()).toEqual([1]);
    event.resolve();
    await expect.poll(() => stranger.tickets()).toBe(0);
  });

  it.concurrent('go to another worker when the first one stops before the capture has ended', async (test) => {
    const { expect } = test;
    const cluster = members(test, 'stopped');
    const api = await cluster.api();
    await (await cluster.stranger()).neverRedeliver();
    const first = await cluster.worker(endless);
    const { outcome } = submitted(api, 1);
    await expect.poll(() => first.running).toBe(1);
    const commands: CaptureCommand[] = [];
    await cluster.worker(async (command) => {
      commands.push(command);
      return stored(command);
    });
    await first.stop(0);
    expect(await outcome).toEqual(stored({ id: 1 }));
    // The deadline covers both attempts.
    expect(commands[0]?.request.timeoutMs).toBeLessThan(60_000);
  });

  it.concurrent('wait for another worker while one is overloaded, and for the end of the overload when there is no other', async (test) => {
    const { expect } = test;
    const cluster = members(test, 'overloaded');
    const api = await cluster.api();
    const stranger = await cluster.stranger();
    await stranger.neverRedeliver();
    const captured: string[] = [];
    const worker = (name: string) =>
      cluster.worker(async (command) => {
        captured.push(name);
        return stored(command);
      });
    const one = await worker('one');
    await submitted(api, 1).outcome;
    one.setOverload(0);
    const waiting = submitted(api, 2);
    await expect.poll(() => stranger.tickets()).toBe(1);
    const two = await worker('two');
    await waiting.outcome;
    expect(captured).toEqual(['one', 'two']);

    two.setOverload(0);
    const last = submitted(api, 3);
    await expect.poll(() => stranger.tickets()).toBe(1);
    one.setOverload(null);
    await last.outcome;
    expect(captured).toEqual(['one', 'two', 'one']);
  });

  it.concurrent('that ended while slots were free do not shorten Retry-After', async (test) => {
    const { expect } = test;
    const cluster = members(test, 'retry-after', 2);
    const api = await cluster.api();
    let isHeld = false;
    await cluster.worker(async (command) => (isHeld ? endless(command) : stored(command)), { slots: 2 });
    await expect.poll(() => cluster.clusters[0]?.stats().slots).toBe(2);
    for (let id = 1; id <= 100; id += 1) await submitted(api, id).outcome;

    isHeld = true;
    // Of these, 2 run and 5 wait.
    const held = Array.from({ length: 8 }, (_, at) => submitted(api, 101 + at));
    const refusalOf = ({ outcome }: ReturnType<typeof submitted>) =>
      new Promise<CapstanError>((resolve) => void outcome.catch(resolve));
    await Promise.race(held.map(refusalOf));
    let id = 200;
    const retryAfter = async () => {
      id += 1;
      return (await refusalOf(submitted(api, id))).retryAfterSeconds;
    };
    await expect.poll(retryAfter, { timeout: 30_000 }).toBeGreaterThanOrEqual(10);
    for (const { hangUp } of held) hangUp();
  });

  it.concurrent('are given to the worker that has connected to the target, while it has slots', async (test) => {
    const { expect } = test;
    const cluster = members(test, 'connected', 100);
    const api = await cluster.api();
    const slots = 3;
    const dialled: number[] = [];
    const captured: { readonly id: number; readonly isConnected: boolean }[] = [];
    const gate = Promise.withResolvers<void>();
    const capture = async (command: CaptureCommand): Promise<CaptureOutcome> => {
      captured.push({ id: command.id, isConnected: command.dialled !== undefined });
      await gate.promise;
      return stored(command);
    };
    const dial = async ({ id }: CaptureCommand) => {
      dialled.push(id);
      return { ms: 1, take: () => undefined, close: () => {} };
    };
    for (const _ of [1, 2]) await cluster.worker(capture, { slots, dial, maxDials: () => 10 });
    await expect.poll(() => cluster.clusters[0]?.stats().slots).toBe(2 * slots);
    const ids = Array.from({ length: 2 * slots }, (_, at) => at + 1);
    const outcomes = ids.map(async (id) => {
      const { command } = commandOf(id);
      await api.dial(command);
      return submitted(api, id, command.request, true).outcome;
    });
    await expect.poll(() => captured.length).toBe(ids.length);
    gate.resolve();
    expect(await Promise.all(outcomes)).toEqual(ids.map((id) => stored({ id })));
    expect(dialled.toSorted((a, b) => a - b)).toEqual(ids);
    expect(captured.filter(({ isConnected }) => !isConnected)).toEqual([]);
    expect(new Set(captured.map(({ id }) => id)).size).toBe(ids.length);
    const stranger = await cluster.stranger();
    await expect.poll(() => stranger.tickets()).toBe(0);
  });

  it('are delivered at once when a killed NATS server has forgotten which tickets were acknowledged', async (test) => {
    const cluster = members(test, 'killed', 1);
    const stateOnDisk = async () =>
      readFile(join(nats?.directory ?? '', 'jetstream/$G/streams/killed-work/obs/workers/o.dat')).catch(() => null);
    const api = await cluster.api();
    const stranger = await cluster.stranger();
    await stranger.neverRedeliver();
    let finish = (): void => {};
    const finishing = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const kept = await stateOnDisk();
    await cluster.worker(async (command) => {
      await finishing;
      return stored(command);
    });
    const { outcome } = submitted(api, 1);
    // NATS writes that the ticket was delivered, and a moment later that it was acknowledged: too late.
    await expect.poll(stateOnDisk).not.toEqual(kept);
    finish();
    await outcome;
    await nats?.kill();
    await expect.poll(() => api.queue.refusal?.()?.code).toBe('cluster_unavailable');
    await nats?.start();
    await expect.poll(() => api.queue.refusal?.()).toBeUndefined();
    expect(await submitted(api, 2).outcome).toEqual(stored({ id: 2 }));
  });
});
