import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, nanos } from '@nats-io/transport-node';
import { defer, lastValueFrom, of } from 'rxjs';
import { expect as globalExpect, onTestFinished as onAnyTestFinished, type TestContext } from 'vitest';
import type { CaptureCommand } from '../../src/capture/command.ts';
import { CapstanError } from '../../src/capture/errors.ts';
import type { CaptureOutcome } from '../../src/capture/outcome.ts';
import { decode, encode, FromNode } from '../../src/cluster/messages.ts';
import { type Cluster, type ClusterApi, openCluster, type Worker } from '../../src/cluster/open-cluster.ts';
import { subjectsOf, ticketOf } from '../../src/cluster/subjects.ts';
import type { WorkerOptions } from '../../src/cluster/worker.ts';
import { captureRequest } from '../support/capture-request.ts';
import type { NatsServer } from '../support/nats.ts';
import { OFTEN } from '../support/often.ts';
import { clusterConfig } from './cluster-config.ts';

/** Api nodes and workers of one cluster without browsers and stores: the test says how a capture ends. */
export interface Members {
  /** Those that were created, in order. */
  readonly clusters: readonly Cluster[];
  api(): Promise<ClusterApi>;
  worker(capture: WorkerOptions['capture'], options?: Partial<WorkerOptions>): Promise<Worker>;
  /** Enters the cluster as a worker of which only the test knows. */
  stranger(): Promise<Stranger>;
}

/** A worker that takes tickets and claims them, and never works on them. */
export interface Stranger {
  /** Takes a ticket, claims it under a name of a worker that does not run, and returns the ticket to the queue. */
  lose(name: string): Promise<FromNode>;
  /** Does the same, but keeps the ticket until it is told to return it. */
  hold(name: string): Promise<HeldTicket>;
  /** Removes the oldest ticket from the stream. */
  removeTicket(): Promise<void>;
  /** Puts a ticket of an api node into the stream, by default of one that has ended. */
  leaveTicket(id: number, node?: string): Promise<void>;
  /** Takes a place of the queue for an api node that has ended. */
  leavePlace(id: number): Promise<void>;
  tickets(): Promise<number>;
  places(): Promise<number>;
  /** The captures whose tickets are in the stream. */
  ids(): Promise<readonly number[]>;
  /** Delivers no ticket again for an hour, however long its worker is silent. */
  neverRedeliver(): Promise<void>;
}

export interface HeldTicket {
  /** Name of the api node. */
  readonly node: string;
  readonly answer: FromNode;
  giveBack(): void;
}

/**
 * `onBadMessages`: called with the number of messages that a member could not read. `onProblem`: called with a problem
 * of a member. By default there must be none. `test`: needed in tests that run at the same time.
 */
export function membersOf(
  nats: NatsServer,
  name: string,
  maxConcurrent = 5,
  onBadMessages?: (count: number) => void,
  onProblem?: (problem: unknown) => void,
  { expect, onTestFinished }: Pick<TestContext, 'expect' | 'onTestFinished'> = {
    expect: globalExpect,
    onTestFinished: onAnyTestFinished,
  },
): Members {
  const clusters: Cluster[] = [];
  const open = async (role: 'api' | 'worker', create: (cluster: Cluster) => void): Promise<void> => {
    const problems: unknown[] = [];
    const cluster = openCluster(
      clusterConfig({ natsUrl: [nats.url], clusterName: name, role, clusterMaxConcurrent: maxConcurrent, maxQueue: 5 }),
      {
        onState: () => {},
        onProblem: onProblem ?? ((problem) => problems.push(problem)),
        onBadMessages: (count, _subject, cause) => (onBadMessages ?? (() => problems.push(cause)))(count),
      },
    );
    create(cluster);
    clusters.push(cluster);
    onTestFinished(async () => {
      await cluster.close();
      expect(problems).toEqual([]);
    });
    cluster.start();
    await expect.poll(() => cluster.isUp, OFTEN).toBe(true);
  };
  return {
    clusters,
    async api() {
      let api: ClusterApi | undefined;
      await open('api', (cluster) => {
        api = cluster.createApi({ evidenceOf: async () => null, inFlight: () => [], onLimits: () => {} });
      });
      if (api === undefined) throw new Error('it was created');
      return api;
    },
    async worker(capture, options = {}) {
      let worker: Worker | undefined;
      await open('worker', (cluster) => {
        worker = cluster.createWorker({
          slots: 1,
          outbox: () => 0,
          capture,
          dial: async () => Promise.reject(new Error('nothing is dialled')),
          maxDials: () => 0,
          findOutcome: async () => undefined,
          logEnd: async () => {},
          ...options,
        });
      });
      if (worker === undefined) throw new Error('it was created');
      return worker;
    },
    async stranger() {
      const connection = await connect({ servers: nats.url, maxReconnectAttempts: -1, reconnectTimeWait: 50 });
      onTestFinished(() => connection.close());
      const subjects = subjectsOf(name);
      const manager = await jetstreamManager(connection);
      const isCreated = () =>
        manager.consumers.info(subjects.stream, subjects.consumer).then(
          () => true,
          () => false,
        );
      // Connected members create the stream and the consumer.
      await expect.poll(isCreated, OFTEN).toBe(true);
      const hold = async (worker: string): Promise<HeldTicket> => {
        const consumer = await jetstream(connection).consumers.get(subjects.stream, subjects.consumer);
        const ticket = await consumer.next({ expires: 30_000 });
        if (ticket === null) throw new Error('there is no ticket');
        const { node, id } = ticketOf(ticket.subject);
        const answer = await connection.request(subjects.node(node), encode({ type: 'claim', id, worker }), {
          timeout: 120_000,
        });
        return { node, answer: decode(FromNode, answer.data), giveBack: () => ticket.nak() };
      };
      return {
        hold,
        async lose(worker) {
          const { answer, giveBack } = await hold(worker);
          giveBack();
          return answer;
        },
        async removeTicket() {
          const { state } = await manager.streams.info(subjects.stream);
          await manager.streams.deleteMessage(subjects.stream, state.first_seq);
        },
        async leaveTicket(id, node = 'ended') {
          await jetstream(connection).publish(subjects.work(node, id));
        },
        async leavePlace(id) {
          await jetstream(connection).publish(subjects.place('ended', id));
        },
        async neverRedeliver() {
          await manager.consumers.update(subjects.stream, subjects.consumer, { ack_wait: nanos(3_600_000) });
        },
        tickets: async () => (await manager.streams.info(subjects.stream)).state.messages,
        places: async () => (await manager.streams.info(subjects.places)).state.messages,
        async ids() {
          const { state } = await manager.streams.info(subjects.stream, { subjects_filter: subjects.workOf('*') });
          return Object.keys(state.subjects ?? {}).map((subject) => ticketOf(subject).id);
        },
      };
    },
  };
}

/** Returns the command of a capture, and what cancels it. */
export function commandOf(id: number, request = captureRequest('http://example.com/')) {
  const controller = new AbortController();
  const { signal } = controller;
  const command: CaptureCommand = { id, request, batch: null, apiKeyName: null, requestId: null, signal };
  return { command, controller };
}

/** A capture at an api node, as its pipeline would run it. `isItem`: of a batch, which waits for room. */
export function submitted(
  api: ClusterApi,
  id: number,
  request = captureRequest('http://example.com/'),
  isItem = false,
): { readonly outcome: Promise<CaptureOutcome>; hangUp(): void } {
  const { command, controller } = commandOf(id, request);
  const outcome = async (): Promise<CaptureOutcome> => {
    await (api.queue.enqueue?.(command, null, isItem) ?? Promise.reject(new Error('a cluster has a queue')));
    const start = api.queue.each(() => defer(() => api.perform(command)));
    return lastValueFrom(start(of({ command, owner: null })));
  };
  return { outcome: outcome(), hangUp: () => controller.abort(new CapstanError('cancelled')) };
}
