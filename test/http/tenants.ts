import { afterAll, describe, expect } from 'vitest';
import type { Result } from '../../src/capture/result/result.ts';
import type { ServiceConfig } from '../../src/config/slices.ts';
import type { CaptureService } from '../../src/service/create-service.ts';
import { serversForSuite, whyNoCluster } from '../cluster/cluster-of-processes.ts';
import { nodesOf } from '../cluster/nodes.ts';
import { OFTEN } from '../support/often.ts';
import { type HttpOverrides, type RunningApp, serve } from '../support/serve.ts';
import { NO_BROWSER, type RunningService, startService } from '../support/service.ts';
import { type KeptCapture, keepCapture } from './stored-capture.ts';

/** Two keys of one service, each of which sees its own captures alone. */
export const TENANTS = [
  { name: 'flood', key: 'flood-key', rate: null, scope: 'capture' },
  { name: 'shop', key: 'shop-key', rate: null, scope: 'capture' },
] as const;

/** A key that sees the captures of all tenants, and one that may only read. */
export const ROOT = { name: 'root', key: 'root-key', rate: null, scope: 'admin' } as const;
export const READER = { name: 'reader', key: 'reader-key', rate: null, scope: 'read' } as const;

/** Sends a request with an API key, and with a body as JSON if there is one. */
export const ask = (app: RunningApp, key: string, path: string, method = 'GET', body?: unknown): Promise<Response> =>
  app.call(path, {
    method,
    headers: { 'X-API-Key': key, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

/** A service of two tenants. */
export interface TenantsOf extends AsyncDisposable {
  /** The apps that clients may ask: those of all api nodes. The first is also `one`. */
  readonly apps: readonly RunningApp[];
  readonly one: RunningApp;
  /** The services behind the apps. The first is also `service`. */
  readonly services: readonly CaptureService[];
  readonly service: CaptureService;
}

/** Stores a capture of the tenant `shop`, as the first node would have made it. */
export async function keepForShop(
  { service }: Pick<TenantsOf, 'service'>,
  id: number,
  overrides: Partial<Result> = {},
): Promise<KeptCapture> {
  const kept = await keepCapture(service, id, { api_key_name: 'shop', ...overrides });
  await service.results.insert(kept.result);
  return kept;
}

/** With `NO_BROWSER`, a cluster has no worker. */
export type StartTenants = (config: Partial<ServiceConfig>, http?: HttpOverrides) => Promise<TenantsOf>;

type Suite = (start: StartTenants, apiNodes: 1 | 2, database: 'SQLite' | 'MongoDB') => void;

/**
 * Runs the tests in one process with SQLite, and in a cluster of two api nodes and a worker with MongoDB. `apiNodes`:
 * the number of apps.
 */
export function describeWithTenants(suite: Suite): void {
  describe('in one process with SQLite', () => suite((config, http) => ofOneProcess(config, http), 1, 'SQLite'));

  describeWithMongo(suite, false);
}

/** Like `describeWithTenants`, and also in one process with MongoDB: for what such a process keeps in its database. */
export function describeWithTenantsOfEachDatabase(suite: Suite): void {
  describe('in one process with SQLite', () => suite((config, http) => ofOneProcess(config, http), 1, 'SQLite'));

  describeWithMongo(suite, true);
}

/**
 * Returns the function by which the tests of a suite share tenants: the first call starts them, because the nodes of a
 * cluster are polled, which only tests can do.
 */
export function tenantsForSuite(start: () => Promise<TenantsOf>): () => Promise<TenantsOf> {
  let started: Promise<TenantsOf> | undefined;
  afterAll(async () => (await started)?.[Symbol.asyncDispose]());
  return () => {
    started ??= start();
    return started;
  };
}

const whyNot = await whyNoCluster();

function describeWithMongo(suite: Suite, inOneProcess: boolean): void {
  // `npm test` skips no test.
  if (whyNot !== undefined && process.env.ONLY_NPM !== undefined) return;
  describe.skipIf(whyNot !== undefined)(`with MongoDB${whyNot === undefined ? '' : ` (skipped: ${whyNot})`}`, () => {
    const servers = serversForSuite();
    let databases = 0;
    const nextName = () => {
      databases += 1;
      return `tenants${databases}`;
    };

    if (inOneProcess) {
      describe('in one process', () =>
        suite(
          (config, http) =>
            ofOneProcess({ dbPath: null, mongoUrl: `${servers.mongo.url}${nextName()}`, ...config }, http),
          1,
          'MongoDB',
        ));
    }

    describe('in a cluster', () =>
      suite(
        async (config, http) => {
          const nodes = await nodesOf(servers, nextName(), { clusterMaxConcurrent: 2, ...config });
          const services = [await nodes.api(), await nodes.api()];
          if (config.browserPath !== NO_BROWSER.browserPath) {
            await nodes.worker();
            for (const { service } of services) {
              await expect.poll(() => service.stats().cluster?.slots, OFTEN).toBeGreaterThan(0);
            }
          }
          return tenantsOf(services, http, () => nodes[Symbol.asyncDispose]());
        },
        2,
        'MongoDB',
      ));
  });
}

async function ofOneProcess(config: Partial<ServiceConfig>, http?: HttpOverrides): Promise<TenantsOf> {
  const service = await startService(config);
  return tenantsOf([service], http, () => service.stop());
}

async function tenantsOf(
  services: readonly RunningService[],
  http: HttpOverrides = {},
  stop: () => PromiseLike<void>,
): Promise<TenantsOf> {
  const keyed = { apiKey: TENANTS.map(({ key }) => key), namedKeys: TENANTS, isolateKeys: true };
  const apps = await Promise.all(services.map(({ service }) => serve(service, { ...keyed, ...http })));
  const [one] = apps;
  const [first] = services;
  if (one === undefined || first === undefined) throw new Error('there is no app');
  return {
    apps,
    one,
    services: services.map(({ service }) => service),
    service: first.service,
    async [Symbol.asyncDispose]() {
      await Promise.all(apps.map((app) => app.close()));
      await stop();
    },
  };
}
