import { setTimeout as delay } from 'node:timers/promises';
import { defer, from, lastValueFrom, mergeMap, of, toArray } from 'rxjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CaptureCommand } from '../../src/capture/command.ts';
import { CapstanError } from '../../src/capture/errors.ts';
import { type CaptureOutcome, outcomeOfError } from '../../src/capture/outcome.ts';
import type { ClusterApi } from '../../src/cluster/open-cluster.ts';
import type { Worker, WorkerOptions } from '../../src/cluster/worker.ts';
import { exampleResult } from '../support/example-result.ts';
import { type NatsServer, startNats, whyNoNats } from '../support/nats.ts';
import { commandOf, membersOf } from './members.ts';

const whyNot = await whyNoNats();
const reason = whyNot === undefined ? '' : ` (skipped: ${whyNot})`;

/** Captures that each of two workers runs at once, and those of the batch that wait or run. */
const SLOTS = 2;
const AT_ONCE = 4 * SLOTS;
/** Of 200 captures. Measured: 8 with exchanged tickets, half without. */
const MAX_WITHOUT = 30;

const stored = (id: number): CaptureOutcome => ({ state: 'stored', result: exampleResult(id), evidence: null });

/** Dials the target of an item at a worker, queues the item, and waits for its outcome. */
async function dialled(api: ClusterApi, command: CaptureCommand, owner: string | null): Promise<CaptureOutcome> {
  const found = await api.dial(command);
  if ('outcome' in found) return found.outcome;
  await api.queue.enqueue?.(command, owner, true);
  const start = api.queue.each(() => defer(() => api.perform(command)));
  return lastValueFrom(start(of({ command, owner }))).finally(() => found.close());
}

const itemOf = (id: number, apiKeyName: string | null = null): CaptureCommand => ({
  ...commandOf(id).command,
  batch: `batch of ${apiKeyName}`,
  apiKeyName,
});

describe.skipIf(whyNot !== undefined)(`connections that wait at the workers of a cluster${reason}`, () => {
  let nats: NatsServer | undefined;
  beforeAll(async () => {
    nats = await startNats();
  });
  afterAll(() => nats?.remove());
  const members = (name: string) => {
    if (nats === undefined) throw new Error('NATS runs from the first test on');
    return membersOf(nats, name, 20);
  };
  /** A worker that reaches all targets. */
  const reaching = (capture: WorkerOptions['capture']): [WorkerOptions['capture'], Partial<WorkerOptions>] => [
    capture,
    { slots: SLOTS, maxDials: () => 256, dial: async () => ({ ms: 1, take: () => undefined, close: () => {} }) },
  ];
  const run = (api: ClusterApi, commands: readonly CaptureCommand[]) =>
    lastValueFrom(
      from(commands).pipe(
        mergeMap((command) => dialled(api, command, command.apiKeyName), AT_ONCE),
        toArray(),
      ),
    );

  it('serve most of the captures that they were opened for', async () => {
    const cluster = members('used');
    const api = await cluster.api();
    const without: number[] = [];
    const capture: WorkerOptions['capture'] = async ({ id, dialled: connection }) => {
      if (connection === undefined) without.push(id);
      await delay(5 + (id % 7));
      return stored(id);
    };
    await cluster.worker(...reaching(capture));
    await cluster.worker(...reaching(capture));
    await expect.poll(() => cluster.clusters[0]?.stats().workers).toBe(2);
    const outcomes = await run(
      api,
      Array.from({ length: 200 }, (_, at) => itemOf(at + 1)),
    );
    expect(outcomes.map(({ state }) => state)).toEqual(Array(200).fill('stored'));
    // Where the worker that has the connection has no slot, and another one does, that one opens its own.
    expect(without.length).toBeLessThan(MAX_WITHOUT);
  });

  /** Two workers that dial and take no tickets; a capture of each key, at one of them each. */
  async function heldApart(name: string, keys: readonly [string, string]) {
    const cluster = members(name);
    const api = await cluster.api();
    const holders = new Map<number, string>();
    const holding = async (): Promise<Worker> => {
      const dial: WorkerOptions['dial'] = async ({ id }) => {
        holders.set(id, worker.name);
        return { ms: 1, take: () => undefined, close: () => {} };
      };
      const worker = await cluster.worker(() => [], { slots: 0, maxDials: () => 256, dial });
      return worker;
    };
    await holding();
    await holding();
    await expect.poll(() => cluster.clusters[0]?.stats().workers).toBe(2);
    const stranger = await cluster.stranger();
    for (const [at, key] of keys.entries()) {
      void dialled(api, itemOf(at + 1, key), key);
      await expect.poll(stranger.tickets).toBe(at + 1);
    }
    expect(holders.get(1)).not.toBe(holders.get(2));
    return { stranger, holderOf: (id: number) => holders.get(id) ?? '' };
  }

  it('are opened while the records of targets that were not reached are being stored', async () => {
    const cluster = members('recording');
    const api = await cluster.api();
    const recorded = Promise.withResolvers<CaptureOutcome>();
    const dial: WorkerOptions['dial'] = async ({ id }) =>
      id === 1 ? { outcome: recorded.promise } : { ms: 1, take: () => undefined, close: () => {} };
    await cluster.worker(() => [], { slots: 0, maxDials: () => 1, dial });
    await expect.poll(() => cluster.clusters[0]?.stats().workers).toBe(1);
    const dead = api.dial(itemOf(1));
    expect(await api.dial(itemOf(2))).toMatchObject({ ms: 1 });
    const outcome = outcomeOfError(new CapstanError('target_unreachable'));
    recorded.resolve(outcome);
    const found = await dead;
    expect('outcome' in found && (await found.outcome)).toMatchObject(outcome);
  });

  it('decide which capture of the same API key is next', async () => {
    const { stranger, holderOf } = await heldApart('same-key', ['shop', 'shop']);
    const { answer } = await stranger.hold(holderOf(2));
    expect(answer).toMatchObject({ type: 'run', id: 2 });
  });

  it('do not decide between API keys', async () => {
    const { stranger, holderOf } = await heldApart('other-key', ['shop', 'flood']);
    const { answer } = await stranger.hold(holderOf(2));
    expect(answer).toMatchObject({ type: 'run', id: 1 });
  });
});
