import { request } from 'node:http';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { FailureCode } from '../../src/capture/errors.ts';
import { signedTarget } from '../../src/capture/finding/signed-link.ts';
import { openApiDocument } from '../../src/http/openapi/document.ts';
import { putCapture } from '../storage/put-capture.ts';
import { EVIDENCE } from '../storage/result-of.ts';
import { siteForSuite } from '../support/for-suite.ts';
import { freePort } from '../support/free-port.ts';
import { type RunningApp, serve } from '../support/serve.ts';
import { NO_BROWSER, type RunningService, startService } from '../support/service.ts';
import { keepCapture, resultOf } from './stored-capture.ts';

/*
 * The table of statuses and codes of the HTTP contract. Each answer is compared with the OpenAPI document: the
 * operation must list the status and the code, and the schema must accept the body.
 */

const KEY = 'contract-key';
const SIGNING_KEY = 'a-signing-key-of-at-least-32-characters';
const KEYED = { 'X-API-Key': KEY };
const IN_A_YEAR = Math.floor(Date.now() / 1000) + 31_536_000;
const LIMITS = { maxBatch: 10, timeoutMs: 20_000, maxTimeoutMs: 30_000 };
/** Longer than all rows take, on any machine. */
const HELD_MS = 600_000;
const document = openApiDocument(LIMITS);
const converted = new Map<string, z.ZodType>();

const site = siteForSuite();
let main: RunningService;
let withoutDatabase: RunningService;
let lostDatabase: RunningService;
let withoutBrowser: RunningService;
let stopping: RunningService;
let full: RunningService;
let broken: RunningService;
const apps = new Map<Which, RunningApp>();
let unreachable: string;

type Which =
  | 'main'
  | 'keyed'
  | 'without database'
  | 'lost database'
  | 'without browser'
  | 'stopping'
  | 'full'
  | 'broken';

beforeAll(async () => {
  unreachable = `http://127.0.0.1:${await freePort()}/`;
  [main, withoutDatabase, lostDatabase, withoutBrowser, stopping, full, broken] = await Promise.all([
    startService({ allowWebhooks: ['127.0.0.1'] }),
    startService({ ...NO_BROWSER, dbPath: null }),
    startService(NO_BROWSER),
    startService(NO_BROWSER),
    startService(NO_BROWSER),
    startService({ maxConcurrent: 1, maxQueue: 0 }),
    startService(NO_BROWSER),
  ]);
  await keepCapture(main.service, 1);
  const similar = { perception_hash: '0123456789abcdef' };
  await main.service.results.insert({ ...resultOf(1, similar), evidence: EVIDENCE });
  await main.service.results.insert(resultOf(2, similar));
  await main.service.results.insert((await keepCapture(main.service, 4)).result);
  const image = await sharp({ create: { width: 2, height: 2, channels: 3, background: 'white' } })
    .png()
    .toBuffer();
  await putCapture(main.service.artifacts, resultOf(5), { image, html: '' });
  await keepCapture(main.service, 6, { format: 'pdf' });
  await keepCapture(main.service, 7, { width: 10_000, height: 10_000 });
  await lostDatabase.loseDatabase();
  await stopping.service.stop();
  const faulty: typeof broken.service = Object.create(broken.service, {
    stats: {
      value: () => {
        throw new Error('internal detail');
      },
    },
  });

  apps.set('main', await serve(main.service, { ...LIMITS, signingKey: [SIGNING_KEY] }));
  apps.set('keyed', await serve(main.service, { ...LIMITS, apiKey: [KEY] }));
  apps.set('without database', await serve(withoutDatabase.service, LIMITS));
  apps.set('lost database', await serve(lostDatabase.service, LIMITS));
  apps.set('without browser', await serve(withoutBrowser.service, LIMITS));
  apps.set('stopping', await serve(stopping.service, LIMITS));
  apps.set('full', await serve(full.service, { ...LIMITS, maxTimeoutMs: HELD_MS }));
  apps.set('broken', await serve(faulty, LIMITS));

  const started = full.next('capture.started');
  const holding = request(`${app('full').baseUrl}/screenshot`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
  });
  holding.on('error', () => {});
  holding.end(JSON.stringify({ url: site.url('/hang'), timeoutMs: HELD_MS }));
  await started;
});

afterAll(async () => {
  await Promise.all([...apps.values()].map((each) => each.close()));
  await Promise.all(
    [main, withoutDatabase, lostDatabase, withoutBrowser, stopping, full, broken].map((each) => each?.stop()),
  );
});

function app(which: Which): RunningApp {
  const found = apps.get(which);
  if (found === undefined) throw new Error(`${which} is not running`);
  return found;
}

interface Row {
  readonly status: number;
  readonly code?: FailureCode;
  readonly on?: Which;
  /** @default POST with a body, GET without */
  readonly method?: string;
  readonly path: string;
  /** Null when the OpenAPI document cannot contain the operation. */
  readonly operation?: null;
  /** Returns the body. Called when the fixture site is running. */
  readonly body?: () => unknown;
  readonly raw?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly answers?: Readonly<Record<string, unknown>>;
}

const ROWS: readonly Row[] = [
  {
    status: 200,
    path: '/screenshot',
    body: () => ({ url: site.url('/short') }),
    answers: { location: expect.stringMatching(/^\/screenshot\/\d+$/) },
  },
  {
    status: 200,
    path: '/batch',
    body: () => ({ requests: [{ url: site.url('/404') }, { url: unreachable }, { url: 'file:///x' }] }),
  },
  { status: 200, path: '/batch', body: () => ({ requests: [] }) },
  {
    status: 200,
    path: '/batch?concurrency=2',
    raw: '{"url":"file:///x"}\n{',
    headers: { 'Content-Type': 'application/x-ndjson', Accept: 'application/json' },
  },
  ...['application/ndjson', 'application/jsonl'].map((type) => ({
    status: 200,
    path: '/batch',
    raw: '{"url":"file:///x"}',
    headers: { 'Content-Type': type, Accept: type },
  })),
  { status: 200, path: '/results/export', headers: { Accept: 'application/jsonl' } },
  {
    status: 200,
    path: '/mcp',
    body: () => ({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    headers: { Accept: 'application/json, text/event-stream' },
  },
  {
    status: 202,
    path: '/mcp',
    body: () => ({ jsonrpc: '2.0', method: 'notifications/initialized' }),
    headers: { Accept: 'application/json, text/event-stream' },
  },
  { status: 400, code: 'invalid_request', path: '/mcp', body: () => ({}) },
  {
    status: 403,
    code: 'origin_not_allowed',
    path: '/mcp',
    body: () => ({}),
    headers: { Origin: 'https://other.example' },
  },
  {
    status: 202,
    path: '/batch',
    body: () => ({ requests: [] }),
    headers: { Prefer: 'respond-async' },
    answers: { location: expect.stringMatching(/^\/jobs\/./), 'preference-applied': 'respond-async' },
  },
  { status: 202, path: '/screenshot', body: () => ({ url: 'file:///x' }), headers: { Prefer: 'respond-async' } },
  {
    status: 202,
    path: '/scans',
    body: () => ({ targets: unreachable }),
    answers: { location: expect.stringMatching(/^\/jobs\/./) },
  },
  {
    status: 202,
    path: '/scans?perHost=1',
    raw: 'file:///x\nhttp://192.168.0.1/',
    headers: { 'Content-Type': 'application/octet-stream' },
  },
  { status: 400, code: 'invalid_request', path: '/scans', body: () => ({ targets: '# none' }) },
  { status: 503, code: 'database_not_enabled', on: 'without database', path: '/scans', body: () => ({ targets: 'x' }) },
  {
    status: 201,
    path: '/watches',
    body: () => ({ url: site.url('/short'), every: '1d' }),
    answers: { location: expect.stringMatching(/^\/watches\/\d+$/) },
  },
  { status: 400, code: 'invalid_request', path: '/watches', body: () => ({ url: 'https://example.com' }) },
  {
    status: 503,
    code: 'database_not_enabled',
    on: 'without database',
    path: '/watches',
    body: () => ({ url: 'https://example.com', every: '1d' }),
  },
  { status: 200, path: '/watches' },
  { status: 401, code: 'unauthorized', on: 'keyed', path: '/watches' },
  { status: 400, code: 'invalid_id', path: '/watches/x' },
  ...(['GET', 'PATCH', 'DELETE'] as const).map(
    (method): Row => ({
      status: 404,
      code: 'not_found',
      method,
      path: '/watches/9',
      ...(method === 'PATCH' && { body: () => ({}) }),
    }),
  ),
  { status: 404, code: 'not_found', path: '/watches/9/history' },
  { status: 404, code: 'not_found', path: '/watches/9/values' },
  ...['pause', 'resume', 'run'].map(
    (command): Row => ({
      status: 404,
      code: 'not_found',
      method: 'POST',
      path: `/watches/9/${command}`,
    }),
  ),
  { status: 404, code: 'not_found', path: '/jobs/x' },
  { status: 404, code: 'not_found', method: 'DELETE', path: '/jobs/x' },
  { status: 503, code: 'database_not_enabled', on: 'without database', path: '/jobs/x' },
  { status: 200, path: '/screenshot/1', headers: { Accept: 'application/json' } },
  { status: 200, path: '/screenshot/1?view=metadata' },
  {
    status: 200,
    path: '/screenshot/1',
    answers: { etag: expect.stringMatching(/^"/), 'cache-control': expect.stringContaining('private') },
  },
  {
    status: 200,
    path: '/screenshot/1?view=html',
    answers: { 'content-security-policy': expect.stringContaining('sandbox') },
  },
  {
    status: 206,
    path: '/screenshot/1',
    headers: { Range: 'bytes=0-1' },
    answers: { 'content-range': expect.stringMatching(/^bytes 0-1\//) },
  },
  { status: 200, path: '/screenshot/5?width=1' },
  { status: 422, code: 'not_an_image', path: '/screenshot/6?width=1' },
  { status: 304, path: '/screenshot/1', headers: { 'If-None-Match': '*' } },
  { status: 416, code: 'range_not_satisfiable', path: '/screenshot/1', headers: { Range: 'bytes=9999-' } },
  { status: 200, method: 'PATCH', path: '/screenshot/4', body: () => ({ labels: ['legal'], note: 'x' }) },
  { status: 200, method: 'PATCH', path: '/screenshot/4', body: () => ({ hold: true }) },
  { status: 409, code: 'capture_held', method: 'DELETE', path: '/screenshot/4' },
  { status: 200, method: 'PATCH', path: '/screenshot/4', body: () => ({ hold: false }) },
  { status: 400, code: 'invalid_request', method: 'PATCH', path: '/screenshot/1', body: () => ({ labels: [','] }) },
  { status: 404, code: 'not_found', method: 'PATCH', path: '/screenshot/99', body: () => ({ note: 'x' }) },
  {
    status: 503,
    code: 'database_not_enabled',
    on: 'without database',
    method: 'PATCH',
    path: '/screenshot/1',
    body: () => ({ note: 'x' }),
  },
  { status: 200, path: '/results?label=legal&held=true' },
  { status: 200, method: 'PATCH', path: '/results?label=legal', body: () => ({ addLabels: ['case 17'] }) },
  { status: 400, code: 'invalid_request', method: 'PATCH', path: '/results', body: () => ({ note: 'x' }) },
  { status: 200, path: '/screenshot/1/share', body: () => ({ expires: '1d' }) },
  { status: 403, code: 'link_refused', on: 'keyed', path: '/screenshot/1/share', body: () => ({}), headers: KEYED },
  { status: 400, code: 'invalid_request', path: '/screenshot/1/share', body: () => ({ view: 'text' }) },
  { status: 404, code: 'not_found', path: '/screenshot/99/share', body: () => ({}) },
  { status: 422, code: 'not_an_image', path: '/screenshot/1/share', body: () => ({ with: 6 }) },
  { status: 200, path: '/shares' },
  { status: 200, path: '/feeds', body: () => ({ label: 'legal' }) },
  { status: 403, code: 'link_refused', on: 'keyed', path: '/feeds', body: () => ({ label: 'x' }), headers: KEYED },
  { status: 400, code: 'invalid_request', path: '/feeds', body: () => ({ search: { status: 'x' } }) },
  { status: 404, code: 'not_found', path: '/feeds', body: () => ({ watch: 99 }) },
  { status: 200, path: '/feeds' },
  { status: 404, code: 'not_found', method: 'DELETE', path: '/feeds/feed-0-0' },
  { status: 403, code: 'link_refused', path: '/feeds/feed-0-0' },
  { status: 404, code: 'not_found', path: signedTarget('/feeds/feed-0-0.atom', IN_A_YEAR, SIGNING_KEY) },
  { status: 201, path: '/receivers', body: () => ({ name: 'team', kind: 'ntfy', address: `${site.url('/short')}` }) },
  { status: 400, code: 'invalid_request', path: '/receivers', body: () => ({ name: 'team', kind: 'pager' }) },
  { status: 200, path: '/receivers' },
  { status: 200, path: '/receivers/team' },
  { status: 404, code: 'not_found', path: '/receivers/none' },
  { status: 200, method: 'POST', path: '/receivers/team/test' },
  { status: 404, code: 'not_found', method: 'POST', path: '/receivers/none/test' },
  { status: 200, path: '/receivers/team/dead?limit=5' },
  { status: 404, code: 'not_found', path: '/receivers/none/dead' },
  { status: 200, method: 'POST', path: '/receivers/team/dead/retry' },
  { status: 404, code: 'not_found', method: 'POST', path: '/receivers/team/dead/x/retry' },
  { status: 200, method: 'DELETE', path: '/receivers/team' },
  { status: 404, code: 'not_found', method: 'DELETE', path: '/receivers/team' },
  { status: 200, path: '/labels?text=leg&limit=5' },
  { status: 400, code: 'invalid_request', path: '/labels?limit=0' },
  { status: 404, code: 'not_found', method: 'DELETE', path: '/shares/x' },
  { status: 403, code: 'link_refused', path: '/shared/x' },
  { status: 404, code: 'not_found', path: signedTarget('/shared/x', IN_A_YEAR, SIGNING_KEY) },
  { status: 403, code: 'link_refused', path: '/shared/x/image' },
  { status: 200, method: 'DELETE', path: '/screenshot/4' },
  { status: 200, path: '/compare?a=5&b=5' },
  { status: 200, path: '/captures/stability', body: () => ({ url: site.url('/short') }) },
  {
    status: 400,
    code: 'invalid_request',
    path: '/captures/stability',
    body: () => ({ url: site.url('/short'), format: 'pdf' }),
  },
  { status: 422, code: 'not_an_image', path: '/compare?a=5&b=6' },
  { status: 422, code: 'comparison_too_large', path: '/compare?a=5&b=7' },
  { status: 404, code: 'not_found', path: '/compare?a=5&b=999' },
  { status: 400, code: 'invalid_request', path: '/compare?a=5' },
  { status: 200, path: '/' },
  { status: 200, path: '/screenshots' },
  { status: 200, path: '/results' },
  { status: 200, path: '/results?limit=1', answers: { link: expect.stringMatching(/rel="next"$/) } },
  { status: 200, path: '/results?status=2xx&outcome=stored&text=example&from=2020-01-01' },
  { status: 400, code: 'invalid_request', path: '/results?status=x' },
  { status: 200, path: '/results/by-url?url=https://example.com/' },
  { status: 200, path: '/results/by-host?host=example.com' },
  { status: 200, path: '/results/export' },
  { status: 200, path: '/results/export?format=csv&host=example.com' },
  { status: 400, code: 'invalid_request', path: '/results/export?format=x' },
  { status: 200, path: '/results?address=10.0.0.0/8&hsts=false&certificateExpiresBefore=2030-01-01' },
  { status: 400, code: 'invalid_request', path: '/results?address=10.0.0.0/7' },
  { status: 400, code: 'invalid_request', path: '/results?certificate=a%20b' },
  { status: 400, code: 'invalid_request', path: '/results?favicon=x' },
  { status: 200, path: '/results/groups?by=title&status=2xx&host=example.com' },
  { status: 200, path: '/results/groups?by=technology&limit=1' },
  { status: 400, code: 'invalid_request', path: '/results/groups' },
  { status: 400, code: 'invalid_request', path: '/results/groups?by=x' },
  { status: 200, path: '/results/1' },
  { status: 200, path: '/results/similar/1?distance=0' },
  { status: 200, path: '/captures' },
  { status: 200, path: '/jobs' },
  { status: 401, code: 'unauthorized', on: 'keyed', path: '/jobs' },
  { status: 503, code: 'database_not_enabled', on: 'without database', path: '/jobs' },
  {
    status: 201,
    path: '/queries',
    body: () => ({
      filter: { type: ['capture.*'], text: 'example', option: 'fullPage', similar: { to: 1 } },
      after: 0,
    }),
    answers: { location: expect.stringMatching(/^\/queries\/./) },
  },
  { status: 400, code: 'invalid_request', path: '/queries', body: () => ({ filter: { type: ['x'] } }) },
  { status: 404, code: 'not_found', path: '/queries', body: () => ({ filter: { similar: { to: 99 } } }) },
  { status: 503, code: 'database_not_enabled', on: 'without database', path: '/queries', body: () => ({}) },
  { status: 503, code: 'database_unavailable', on: 'lost database', path: '/queries', body: () => ({}) },
  { status: 200, path: '/queries' },
  { status: 401, code: 'unauthorized', on: 'keyed', path: '/queries' },
  { status: 503, code: 'database_not_enabled', on: 'without database', path: '/queries' },
  { status: 404, code: 'not_found', path: '/queries/x' },
  { status: 404, code: 'not_found', method: 'DELETE', path: '/queries/x' },
  { status: 404, code: 'not_found', path: '/queries/x/next' },
  { status: 400, code: 'invalid_request', path: '/queries/x/next?wait=61' },
  { status: 404, code: 'not_found', path: '/queries/x/ack', body: () => ({ position: 1 }) },
  { status: 400, code: 'invalid_request', path: '/queries/x/ack', body: () => ({}) },
  { status: 200, on: 'full', path: '/captures?limit=1' },
  { status: 401, code: 'unauthorized', on: 'keyed', path: '/captures' },
  { status: 200, path: '/session' },
  { status: 200, on: 'keyed', path: '/session' },
  {
    status: 200,
    on: 'keyed',
    path: '/session',
    body: () => ({ key: KEY }),
    answers: { 'set-cookie': expect.stringContaining('httponly') },
  },
  { status: 200, on: 'keyed', method: 'DELETE', path: '/session' },
  { status: 400, code: 'invalid_request', path: '/session', body: () => ({}) },
  { status: 401, code: 'unauthorized', on: 'keyed', path: '/session', body: () => ({ key: 'wrong' }) },
  { status: 200, path: '/livez' },
  { status: 200, path: '/readyz' },
  { status: 200, path: '/readyz/reads' },
  { status: 200, path: '/readyz/any' },
  { status: 200, path: '/stats' },
  { status: 200, path: '/stats/history?after=2020-01-01T00:00:00.000Z' },
  { status: 400, code: 'invalid_request', path: '/stats/history?after=x' },
  { status: 200, path: '/metrics' },
  { status: 200, path: '/pressure' },
  { status: 200, on: 'stopping', path: '/pressure' },
  { status: 200, method: 'PATCH', path: '/limits', body: () => ({ maxQueue: 1000 }) },
  { status: 200, path: '/openapi.json' },
  { status: 200, on: 'keyed', path: '/results', headers: { Authorization: `Bearer ${KEY}` } },
  { status: 200, on: 'keyed', path: '/results', headers: { 'X-API-Key': KEY } },
  { status: 200, on: 'keyed', path: '/openapi.json' },

  { status: 400, code: 'invalid_request', path: '/screenshot?url=http://&quality=0' },
  { status: 401, code: 'unauthorized', on: 'keyed', path: '/screenshot?url=x.example' },
  { status: 403, code: 'link_refused', on: 'keyed', path: '/screenshot?url=x.example&expires=1&signature=0' },
  { status: 403, code: 'target_forbidden', path: '/screenshot?url=http://192.168.0.1/' },
  { status: 400, code: 'invalid_json', path: '/screenshot', raw: '{' },
  { status: 400, code: 'invalid_json', path: '/batch', raw: '' },
  { status: 400, code: 'invalid_request', path: '/screenshot', body: () => ({ url: 'http://' }) },
  { status: 400, code: 'invalid_request', path: '/batch', body: () => ({ requests: [{}] }) },
  { status: 400, code: 'invalid_request', method: 'PATCH', path: '/limits', body: () => ({}) },
  { status: 400, code: 'invalid_json', method: 'PATCH', path: '/limits', raw: '{' },
  { status: 400, code: 'invalid_request', path: '/screenshot/1?view=x' },
  { status: 400, code: 'invalid_request', path: '/screenshots?limit=x' },
  { status: 400, code: 'invalid_request', path: '/results?limit=x' },
  { status: 400, code: 'invalid_request', path: '/results/by-url' },
  { status: 400, code: 'invalid_request', path: '/results/by-host?host=' },
  { status: 400, code: 'invalid_request', path: '/events?type=capture.eaten' },
  { status: 400, code: 'invalid_request', path: '/results/similar/1?distance=16' },
  { status: 400, code: 'invalid_id', path: '/results/similar/x' },
  { status: 400, code: 'invalid_id', path: '/results/x' },
  { status: 400, code: 'invalid_id', path: '/screenshot/0' },
  { status: 400, code: 'invalid_id', method: 'DELETE', path: '/screenshot/x' },

  ...['/screenshot', '/batch', '/mcp'].map(
    (path): Row => ({ status: 401, code: 'unauthorized', on: 'keyed', method: 'POST', path }),
  ),
  ...[
    '/screenshots',
    '/results',
    '/results/by-url',
    '/results/by-host',
    '/stats',
    '/stats/history',
    '/metrics',
    '/pressure',
  ].map(
    (path): Row => ({
      status: 401,
      code: 'unauthorized',
      on: 'keyed',
      path,
      answers: { 'www-authenticate': 'Bearer' },
    }),
  ),
  { status: 401, code: 'unauthorized', on: 'keyed', method: 'PATCH', path: '/limits' },
  { status: 401, code: 'unauthorized', on: 'keyed', path: '/screenshot/1' },
  { status: 401, code: 'unauthorized', on: 'keyed', method: 'DELETE', path: '/screenshot/1' },
  { status: 401, code: 'unauthorized', on: 'keyed', path: '/results/1' },
  { status: 401, code: 'unauthorized', on: 'keyed', path: '/unknown', operation: null },
  { status: 401, code: 'unauthorized', on: 'keyed', method: 'DELETE', path: '/results', operation: null },
  { status: 401, code: 'unauthorized', on: 'keyed', method: 'POST', path: '/livez', operation: null },

  { status: 403, code: 'target_forbidden', path: '/screenshot', body: () => ({ url: 'file:///etc/passwd' }) },
  { status: 403, code: 'target_forbidden', path: '/screenshot', body: () => ({ url: 'http://192.168.0.1/' }) },

  { status: 404, code: 'not_found', path: '/unknown', operation: null },
  { status: 404, code: 'not_found', path: '/screenshot/3' },
  { status: 404, code: 'not_found', method: 'DELETE', path: '/screenshot/3' },
  { status: 404, code: 'not_found', path: '/results/3' },
  { status: 404, code: 'not_found', path: '/results/similar/4' },
  {
    status: 405,
    code: 'method_not_allowed',
    method: 'DELETE',
    path: '/results/1',
    operation: null,
    answers: { allow: 'GET, HEAD' },
  },
  { status: 405, code: 'method_not_allowed', path: '/batch', operation: null, answers: { allow: 'POST' } },
  {
    status: 405,
    code: 'method_not_allowed',
    method: 'PUT',
    path: '/screenshot/1',
    operation: null,
    answers: { allow: 'DELETE, GET, HEAD, PATCH' },
  },

  { status: 413, code: 'payload_too_large', path: '/screenshot', raw: ' '.repeat(1024 * 1024 + 1) },
  { status: 413, code: 'payload_too_large', path: '/batch', raw: ' '.repeat(1024 * 1024 + 1) },
  {
    status: 415,
    code: 'unsupported_media_type',
    path: '/screenshot',
    raw: '{}',
    headers: { 'Content-Type': 'text/plain' },
  },
  { status: 415, code: 'unsupported_media_type', path: '/batch', raw: '{}', headers: { 'Content-Type': 'text/plain' } },

  {
    status: 429,
    code: 'queue_full',
    on: 'full',
    path: '/screenshot',
    body: () => ({ url: site.url('/short') }),
    answers: { 'retry-after': expect.stringMatching(/^\d+$/) },
  },

  { status: 502, code: 'target_unreachable', path: '/screenshot', body: () => ({ url: unreachable }) },
  {
    status: 504,
    code: 'capture_timeout',
    path: '/screenshot',
    body: () => ({ url: site.url('/hang'), timeoutMs: 300 }),
  },

  ...(['without database', 'lost database'] as const).flatMap((on): Row[] => {
    const code = on === 'without database' ? 'database_not_enabled' : 'database_unavailable';
    return [
      { status: 503, code, on, path: '/results' },
      { status: 503, code, on, path: '/results/by-url?url=x.com' },
      { status: 503, code, on, path: '/results/by-host?host=x.com' },
      { status: 503, code, on, path: '/results/similar/1' },
      { status: 503, code, on, path: '/results/export' },
      { status: 503, code, on, path: '/results/groups?by=title' },
      { status: 503, code, on, path: '/results/1' },
    ];
  }),
  { status: 503, code: 'database_unavailable', on: 'lost database', method: 'DELETE', path: '/screenshot/1' },
  { status: 503, code: 'browser_unavailable', on: 'without browser', path: '/readyz' },
  {
    status: 503,
    code: 'browser_unavailable',
    on: 'without browser',
    path: '/screenshot',
    body: () => ({ url: site.url('/short') }),
  },
  { status: 503, code: 'shutting_down', on: 'stopping', path: '/readyz' },
  { status: 503, code: 'shutting_down', on: 'stopping', path: '/readyz/reads' },
  { status: 503, code: 'shutting_down', on: 'stopping', path: '/readyz/any' },
  { status: 503, code: 'shutting_down', on: 'stopping', path: '/events' },
  {
    status: 503,
    code: 'shutting_down',
    on: 'stopping',
    path: '/screenshot',
    body: () => ({ url: site.url('/short') }),
  },
  {
    status: 503,
    code: 'shutting_down',
    on: 'stopping',
    path: '/batch',
    body: () => ({ requests: [{ url: site.url('/short') }] }),
  },

  { status: 500, code: 'internal', on: 'broken', path: '/stats' },
];

const methodOf = ({ method, body, raw }: Row) => method ?? (body === undefined && raw === undefined ? 'GET' : 'POST');

/** Returns the path in the OpenAPI document that a row's path is an example of; its own, if that is one. */
function templateOf({ path }: Row): string {
  const [plain = ''] = path.split('?');
  const isExample = (template: string) => new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(plain);
  return plain in document.paths ? plain : (Object.keys(document.paths).find(isExample) ?? plain);
}

const title = (row: Row) =>
  `${row.status} ${row.code ?? ''} for ${methodOf(row)} ${row.path}${row.on === undefined ? '' : ` (${row.on})`}`;

describe('the HTTP contract', () => {
  it.each(ROWS.map((row) => [title(row), row] as const))('answers %s', async (_title, row) => {
    const response = await send(row);
    expect(response.status).toBe(row.status);
    expect(response.headers.get('X-Request-Id')).toMatch(/^[\w.:-]{1,128}$/);
    expect(Object.fromEntries(response.headers)).toMatchObject(row.answers ?? {});
    const type = response.headers.get('Content-Type')?.split(';')[0] ?? '';
    const body = type === 'application/json' ? await response.json() : await response.arrayBuffer();
    if (row.code !== undefined) {
      expect(body).toMatchObject({
        success: false,
        error: expect.stringMatching(/./),
        code: row.code,
        request_id: response.headers.get('X-Request-Id'),
      });
      expect(JSON.stringify(body)).not.toContain('internal detail');
    }
    if (row.operation !== null) expectDocumented(row, type, body);
  });

  it('covers each error code, which the OpenAPI document names', () => {
    const codes: readonly FailureCode[] = [
      'invalid_json',
      'invalid_request',
      'invalid_id',
      'unauthorized',
      'target_forbidden',
      'not_found',
      'link_refused',
      'not_an_image',
      'comparison_too_large',
      'method_not_allowed',
      'payload_too_large',
      'unsupported_media_type',
      'queue_full',
      'target_unreachable',
      'database_not_enabled',
      'database_unavailable',
      'browser_unavailable',
      'shutting_down',
      'capture_timeout',
      'internal',
    ];
    const walked = new Set(ROWS.map((row) => row.code));
    expect(codes.filter((code) => !walked.has(code))).toEqual([]);
    const text = JSON.stringify(document);
    expect(codes.filter((code) => !text.includes(`\`${code}\``))).toEqual([]);
  });

  it('covers each operation of the OpenAPI document', () => {
    const walked = new Set(ROWS.map((row) => `${methodOf(row).toLowerCase()} ${templateOf(row)}`));
    const documented = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.keys(Object(item))
        .filter((method) => method !== 'head')
        .map((method) => `${method} ${path}`),
    );
    expect(documented.filter((operation) => !walked.has(operation))).toEqual([]);
  });
});

function send(row: Row): Promise<Response> {
  const { on = 'main', path, body, raw, headers } = row;
  const text = raw ?? (body === undefined ? undefined : JSON.stringify(body()));
  return app(on).call(path, {
    method: methodOf(row),
    headers: { ...(text === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
    ...(text === undefined ? {} : { body: text }),
  });
}

/** Asserts that the operation lists the sent type, this status and code, and that its schema accepts the body. */
function expectDocumented(row: Row, type: string, body: unknown): void {
  const operation = Object(document.paths[templateOf(row)])[methodOf(row).toLowerCase()];
  const answer = operation?.responses?.[row.status];
  expect(answer, 'the status is documented').toBeDefined();
  for (const name of Object.keys(row.answers ?? {})) {
    const documented = Object.keys(answer.headers).map((each) => each.toLowerCase());
    expect(documented, 'the header is documented').toContain(name);
  }
  const sentType = row.headers?.['Content-Type'];
  if (row.status < 300 && sentType !== undefined) expect(operation.requestBody.content).toHaveProperty([sentType]);
  // Answers without a body.
  if (row.status === 304 || (type === '' && Object.keys(answer.content ?? {}).length === 0)) return;
  const content = answer.content?.[type];
  expect(content, 'the type is documented').toBeDefined();
  if (type === 'application/json') schemaOf(content.schema).parse(body);
}

/** Converts a JSON schema of the document to a zod schema, each once: many answers have the same. */
function schemaOf(schema: object): z.ZodType {
  const name = JSON.stringify(schema);
  const known = converted.get(name);
  if (known !== undefined) return known;
  const text = JSON.stringify({ ...schema, $defs: document.components.schemas });
  const made = z.fromJSONSchema(JSON.parse(text.replaceAll('#/components/schemas/', '#/$defs/')));
  converted.set(name, made);
  return made;
}
