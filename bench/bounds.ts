import { readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { listening } from '../test/egress/listening.ts';
import { makeDirectory } from '../test/support/temporary-directory.ts';
import type { BenchOptions } from './support/bench.ts';
import { DEAR_PAGES } from './support/dear-pages.ts';
import { DEAD_URL, dearestOf, type Schema, type Schemas } from './support/dearest.ts';
import { besideRequests, type Dear } from './support/neighbour.ts';
import { startServiceOn } from './support/service-on.ts';
import type { ServiceProcess } from './support/service-process.ts';
import { percentile } from './support/statistics.ts';
import { atMost, exactly, type Finding, formatTable } from './support/table.ts';

/* Cost of a request, field by field. A new field or list is in it by being in the OpenAPI document. */

const MAX_TURN_MS = 50;
/** For requests that docs/security.md names: those with many problems, and the first interactive capture. */
const MAX_DOCUMENTED_TURN_MS = 150;
/** Times that a request with a longer turn is sent, of which the shortest counts: other programs only add to it. */
const ATTEMPTS = 3;
const MAX_ADDED_MIB = 100;
/** A page of records of 4 MiB ends with the record that reaches it. */
const MAX_PAGE_MIB = 5;
const MAX_BODY_BYTES = 900_000;
/** Maximum size of a parameter's value, before it is escaped: Node reads 16 KiB of headers. */
const MAX_QUERY_BYTES = 10_000;
/** Objects of a kind that are stored before its list is read; a key may be refused earlier. */
const MAX_STORED = 400;
const MAX_JOBS = 20;
/** Paths that wait for events, or end a session. */
const UNLISTED: ReadonlySet<string> = new Set(['/events', '/queries/{id}/next', '/session']);
const KEY = 'asking-key';
const JOB = { prefer: 'respond-async' };
const OTHER_KEY = 'other-key';
const INTERACTIVE = 'the first interactive capture';
/** Number of requests beside which another key is measured: those with the longest turns, and as many of the slowest. */
const BESIDE = 6;
const MAX_TIMES_BESIDE = 1.5;
/** Time after which the memory of all requests must be given back. */
const REST_MS = 60_000;

interface Operation {
  readonly parameters?: readonly { in: string; name: string; schema: Schema; required?: boolean }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}
interface Contract {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Schemas };
}
type Sent = { readonly status: number; readonly text: string };

/** Values that no field takes, by what there is much of. */
const WRONG: Readonly<Record<string, unknown>> = {
  'lists in lists': JSON.parse(`[${`${'['.repeat(150)}${']'.repeat(150)},`.repeat(390)}1]`),
  'deep __proto__': JSON.parse(`${'['.repeat(190)}${'{"__proto__":0},'.repeat(19_000)}0${']'.repeat(190)}`),
  'numbers beside __proto__': JSON.parse(`{"__proto__":[${'1,'.repeat(400_000)}1]}`),
  'unknown names': Object.fromEntries(Array.from({ length: 19_000 }, (_, at) => [`name${at}`, 1])),
  'unknown objects': Array.from({ length: 19_000 }, (_, at) => ({ [`n${at}`]: 1 })),
  'too many names': Array.from({ length: 80_000 }, (_, at) => ({ [`n${at}`]: 1 })),
  numbers: Array.from({ length: 400_000 }, () => 1),
};

/** Cost of one request. */
interface Cost extends Readonly<Record<'status' | 'turnMs' | 'addedMiB' | 'answerKiB' | 'ms', number>> {
  readonly what: string;
}

/** The service, with what it takes to measure it. */
class Measured {
  readonly costs: Cost[] = [];
  /** The requests with the longest turns, and the slowest ones. */
  dearest: readonly (Cost & Dear)[] = [];
  readonly #service: ServiceProcess;
  readonly #turns: string;
  /** Id of the last object that was stored, by the path of the request. */
  readonly #ids = new Map<string, string>();

  constructor(service: ServiceProcess, turns: string) {
    this.#service = service;
    this.#turns = turns;
  }

  /** Sends a request, and notes what it cost. Resolves with the text of its answer. */
  async ask(what: string, method: string, path: string, body?: unknown): Promise<string> {
    const send = () => this.send(method, path, body);
    const { text, ...cost } = await this.#once(send);
    let { turnMs } = cost;
    for (let attempt = 1; attempt < ATTEMPTS && turnMs > MAX_TURN_MS && what !== INTERACTIVE; attempt += 1) {
      turnMs = Math.min(turnMs, (await this.#once(send)).turnMs);
    }
    const dear = { ...cost, what, turnMs, send };
    this.costs.push(dear);
    const first = (of: (cost: Cost) => number) =>
      [...this.dearest, dear].toSorted((a, b) => of(b) - of(a)).slice(0, BESIDE);
    this.dearest = [...new Set([...first((each) => each.turnMs), ...first((each) => each.ms)])];
    return text;
  }

  async #once(send: () => Promise<Sent>) {
    await this.#probe();
    // The peak begins anew.
    await writeFile(`/proc/${this.#service.pid}/clear_refs`, '5');
    const before = await this.residentMiB();
    const since = performance.now();
    const { status, text } = await send();
    const ms = performance.now() - since;
    const addedMiB = (await this.residentMiB('VmHWM')) - before;
    const turnMs = await this.#probe();
    return { status, turnMs, addedMiB, answerKiB: Buffer.byteLength(text) / 1024, ms, text };
  }

  async send(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Sent> {
    const response = await fetch(this.#service.origin + path, {
      method,
      headers: { 'x-api-key': KEY, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await response.text();
    const [, id] = (method === 'POST' && response.ok && /"id":"?([^",}]+)/.exec(text)) || [];
    if (id !== undefined) this.#ids.set(path, id);
    return { status: response.status, text };
  }

  /** Id of the last object that was stored by a path; 1 when there is none. */
  idOf = (path: string): string => this.#ids.get(path) ?? '1';

  /** Returns the path of an object that was stored, if there is one. */
  concrete(path: string): string {
    const [list = ''] = path.split('/{');
    const id = this.idOf({ '/results': '/screenshot', '/jobs': '/batch' }[list] ?? list);
    return path.replace('{id}', id).replace('{name}', 'r0').replace('{part}', 'image');
  }

  /** Resolves with the longest turn since the last call. */
  async #probe(): Promise<number> {
    await rm(this.#turns, { force: true });
    process.kill(this.#service.pid, 'SIGUSR2');
    for (;;) {
      const text = await readFile(this.#turns, 'utf8').catch(() => '');
      if (text.endsWith('\n')) return Number(text);
      await delay(5);
      // Throws when the service has ended.
      process.kill(this.#service.pid, 0);
    }
  }

  /** `VmHWM`: the peak. */
  async residentMiB(which = 'VmRSS'): Promise<number> {
    const status = await readFile(`/proc/${this.#service.pid}/status`, 'utf8');
    return Number(new RegExp(`${which}:\\s+(\\d+)`).exec(status)?.[1]) / 1024;
  }
}

export async function bounds(options: BenchOptions): Promise<readonly Finding[]> {
  const site = createServer((request, response) => {
    const name = decodeURIComponent((request.url ?? '/').slice(1));
    const body = DEAR_PAGES[name]?.() ?? '<h1>Small</h1>';
    response.writeHead(200, { 'content-type': 'text/html' }).end(`<!doctype html><title>${name}</title>${body}`);
  });
  await using served = await listening(site);
  const found: Finding[] = [];
  for (const where of options.on ?? ['sqlite'])
    found.push(...(await boundsOn(where, options, `http://127.0.0.1:${served.port}/`)));
  return found;
}

async function boundsOn(where: string, options: BenchOptions, site: string): Promise<readonly Finding[]> {
  const { browserPath, print, report, rounds } = options;
  const urlOf = (name: string) => site + encodeURIComponent(name);
  const folder = await makeDirectory();
  const [turns, keyFile] = [join(folder, 'turns'), join(folder, 'keys')];
  await writeFile(keyFile, `asking:${KEY}:100000\nother:${OTHER_KEY}\n`, { mode: 0o600 });
  const probe = join(import.meta.dirname, 'support/turn-probe.ts');
  await using running = new AsyncDisposableStack();
  const args = ['--isolate-keys', '--api-key-file', keyFile, '--allow-webhooks', '127.0.0.1/32'];
  const secrets = { CAPSTAN_SIGNING_KEY: KEY.repeat(4), CAPSTAN_WEBHOOK_SECRET: `whsec_${btoa(KEY.repeat(4))}` };
  const env = { ...secrets, BENCH_TURNS: turns, NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import=${probe}` };
  const service = await startServiceOn(where, { browserPath, args, env }, running);
  const warm = new Measured(service, turns);
  const contract = JSON.parse((await warm.send('GET', '/openapi.json')).text) as Contract;
  // Modules that are loaded at their first use belong to the base line.
  await warm.ask(INTERACTIVE, 'POST', '/screenshot', { url: urlOf('small'), waitForFunction: 'true' });
  await askPage(warm, contract, 'small', urlOf('small'));
  const measured = new Measured(service, turns);
  measured.costs.push(...warm.costs.filter(({ what }) => what === INTERACTIVE));
  await measured.send('POST', '/screenshot', { url: urlOf('small') });
  const base = await measured.residentMiB();
  const parts: Readonly<Record<string, () => Promise<void>>> = {
    fields: () => askFields(measured, contract, urlOf('small')),
    lists: () => askLists(measured, contract, urlOf('small')),
    pages: async () => {
      for (const name of Object.keys(DEAR_PAGES)) await askPage(measured, contract, name, urlOf(name));
    },
  };
  for (const part of options.only) {
    report(`${where}: ${part}`);
    await parts[part]?.();
  }
  print(tableOf(measured.costs));
  const visit = () => visitOfOther(measured, urlOf('small'));
  const visits = await besideRequests(measured.dearest, visit, rounds, print);
  const times = percentile(visits.beside, 0.95) / percentile(visits.alone, 0.95);
  await endWork(measured);
  await delay(REST_MS);
  const kept = (await measured.residentMiB()) - base;
  const beside = `${where}: p95 of a visit of another key beside the dearest requests, of its time alone`;
  return [...findings(where, measured.costs, kept), atMost(beside, times, MAX_TIMES_BESIDE)];
}

/** Sends each field of each body and each query parameter with its dearest values. */
async function askFields(measured: Measured, { paths, components }: Contract, url: string): Promise<void> {
  const seen = new Set<string>();
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, { parameters = [], requestBody }] of Object.entries(operations)) {
      if (method === 'head' || path === '/limits' || path.includes('session') || path === '/events') continue;
      const to = measured.concrete(path);
      const needed = parameters.filter((each) => each.in === 'query' && each.required);
      for (const { in: place, name, schema } of parameters) {
        // The fields of a capture are sent as a body, once.
        if (place !== 'query' || path === '/screenshot') continue;
        for (const value of valuesOf(name, schema, components.schemas, MAX_QUERY_BYTES)) {
          const query = new URLSearchParams();
          for (const each of needed) if (each.name !== name) query.append(each.name, each.name === 'url' ? url : '1');
          for (const each of [value].flat()) query.append(name, String(each));
          await measured.ask(`${method} ${path}?${name}`, method.toUpperCase(), `${to}?${query}`);
        }
      }
      const body = requestBody?.content['application/json']?.schema;
      const reference = JSON.stringify(body);
      if (body === undefined || seen.has(reference)) continue;
      seen.add(reference);
      for (const [kind, wrong] of Object.entries(WRONG)) {
        await measured.ask(`${method} ${path}: ${kind}`, method.toUpperCase(), to, wrong);
      }
      const defined = (schema: Schema) => components.schemas[schema.$ref?.split('/').at(-1) ?? ''] ?? schema;
      const whole = defined(body);
      for (const shape of [whole, ...(whole.anyOf ?? []).map(defined)]) {
        const { properties = {}, additionalProperties = false } = shape;
        const constants = Object.entries(properties).filter(([, each]) => 'const' in each);
        const fixed: Record<string, unknown> = Object.fromEntries(constants.map(([name, each]) => [name, each.const]));
        if ('url' in properties) Object.assign(fixed, { url, timeoutMs: 1500 });
        // Messages of MCP have `params`, which their schema leaves open.
        const open: Schemas = additionalProperties === false ? {} : { params: {} };
        for (const [name, schema] of Object.entries({ ...properties, ...open })) {
          const values = valuesOf(name, schema, components.schemas, MAX_BODY_BYTES);
          for (const value of [...values, ...Object.values(WRONG)]) {
            await measured.ask(`${method} ${path}: ${name}`, method.toUpperCase(), to, { ...fixed, [name]: value });
          }
        }
      }
    }
  }
}

/** The texts of `ignore` have a prefix, such as `selector:`. */
function valuesOf(name: string, schema: Schema, schemas: Schemas, bytes: number): readonly unknown[] {
  const values = dearestOf(schema, schemas, bytes);
  if (name !== 'ignore') return values;
  const few = values.map((each) => [each].flat().slice(0, 50));
  const prefixed = (kind: string) => few.map((each) => each.map((text) => `${kind}:${String(text).slice(0, 1000)}`));
  return [...values, ...prefixed('selector'), ...prefixed('text')];
}

/** Stores many large objects of each kind, then reads every list of them. */
async function askLists(measured: Measured, { paths, components }: Contract, url: string): Promise<void> {
  for (const [path, body] of Object.entries(largeObjects(url))) {
    for (let at = 0; at < MAX_STORED; at += 1) {
      const { status, text } = await measured.send('POST', measured.concrete(path), body(at), JOB);
      if (status >= 400 && at === 0) throw new Error(`${path} was answered ${status}: ${text.slice(0, 500)}`);
      if (status >= 400) break;
    }
  }
  for (const [path, { get }] of Object.entries(paths)) {
    if (get === undefined || UNLISTED.has(path)) continue;
    const query = new URLSearchParams();
    for (const { in: place, name, schema, required } of get.parameters ?? []) {
      if (place !== 'query' || !(required || name === 'limit' || name === 'recent')) continue;
      const [value] = dearestOf(schema, components.schemas, MAX_QUERY_BYTES);
      query.append(name, name === 'url' ? DEAD_URL : name === 'host' ? '127.0.0.1' : String(value));
    }
    await measured.ask(`get ${path}, whole`, 'GET', `${measured.concrete(path)}?${query}`);
  }
}

/** Bodies of the requests that store an object, by their paths. */
function largeObjects(url: string): Readonly<Record<string, (at: number) => unknown>> {
  const large = 'x'.repeat(60_000);
  const many = (count: number, length: number) =>
    Array.from({ length: count }, (_, at) => `.${at}${large.slice(0, length)}`);
  const watch = { css: `/*${large}*/`, javascript: { before: `//${large}`, after: `//${large}` } };
  // Other labels for each: `GET /labels` reads all of them.
  const marks = (at: number) => ({ labels: many(20, 55).map((label) => at + label), note: large.slice(0, 2000) });
  const items = many(100, 5000).map((path, at) => ({ ...marks(at), url: DEAD_URL + path }));
  return {
    '/watches': (at) => ({ ...watch, url: `${url}?${at}`, every: '300d', hide: many(50, 990), mask: many(50, 990) }),
    '/queries': () => ({ filter: { type: ['capture.stored'], text: large.slice(0, 200) } }),
    '/feeds': (at) => ({ search: { text: `${at}${large.slice(0, 190)}` } }),
    '/receivers': (at) => ({ address: `${url}${large.slice(0, 2000)}`, name: `r${at}`, kind: 'webhook' }),
    '/screenshot/{id}/share': () => ({ expires: '30d' }),
    // Jobs, of which each of 100 items is a record.
    '/batch': (at) => (at < MAX_JOBS ? { requests: items } : {}),
  };
}

/** Captures a page with every output, reads every view of it, and compares it with itself. */
async function askPage(measured: Measured, { paths, components }: Contract, name: string, url: string): Promise<void> {
  const outputs = components.schemas.ScreenshotRequest?.properties?.outputs?.items?.enum ?? [];
  const captured = async () => {
    await measured.ask(`${name}: capture`, 'POST', '/screenshot', { url, fullPage: true, outputs });
    return measured.idOf('/screenshot');
  };
  const [a, b] = [await captured(), await captured()];
  for (const { name: field, schema } of paths['/screenshot/{id}']?.get?.parameters ?? []) {
    for (const value of schema.enum ?? []) {
      const query = field === 'view' ? `view=${value}` : `width=1024&${field}=${value}`;
      await measured.ask(`${name}: ${query}`, 'GET', `/screenshot/${a}?${query}`);
    }
  }
  await measured.ask(`${name}: compare`, 'GET', `/compare?a=${a}&b=${b}`);
  await measured.ask(`${name}: stability`, 'POST', '/captures/stability', { url, fullPage: true });
}

/** Captures a page as another key does, reads it, and lists the newest. */
async function visitOfOther(measured: Measured, url: string): Promise<void> {
  const key = { 'x-api-key': OTHER_KEY };
  const { status, text } = await measured.send('POST', '/screenshot', { url }, key);
  if (status !== 200) throw new Error(`a neighbour's capture was answered ${status}: ${text.slice(0, 500)}`);
  await measured.send('GET', `/screenshot/${JSON.parse(text).data.id}`, undefined, key);
  await measured.send('GET', '/results?limit=20', undefined, key);
}

async function endWork(measured: Measured): Promise<void> {
  for (const list of ['/jobs', '/watches', '/watches', '/watches']) {
    const { text } = await measured.send('GET', `${list}?limit=1000`);
    const found: readonly { readonly id: number | string }[] = JSON.parse(text).data;
    for (const { id } of found) await measured.send('DELETE', `${list}/${id}`);
  }
}

/** The requests that failed or are beyond a limit, and the slowest. */
function tableOf(costs: readonly Cost[]): string {
  const dearest = (of: (cost: Cost) => number, max: number, count = 25) =>
    costs.toSorted((one, other) => of(other) - of(one)).filter((cost, at) => at < count && of(cost) > max);
  const long = dearest(({ turnMs }) => turnMs, MAX_TURN_MS);
  const large = dearest(({ addedMiB }) => addedMiB, MAX_ADDED_MIB);
  const shown = new Set([...failed(costs).slice(0, 25), ...long, ...large, ...dearest(({ ms }) => ms, 0, 5)]);
  const rows = [...shown].map(({ what, status, turnMs, addedMiB, answerKiB, ms }) => [
    what,
    ...[status, turnMs, addedMiB, answerKiB, ms].map((each) => each.toFixed()),
  ]);
  return formatTable(['request', 'status', 'turn ms', 'added MiB', 'answer KiB', 'ms'], rows);
}

const failed = (costs: readonly Cost[]) => costs.filter(({ status }) => status === 500);

function findings(where: string, costs: readonly Cost[], kept: number): Finding[] {
  const isDocumented = ({ what, status }: Cost) => status === 400 || what === INTERACTIVE;
  const [documented, others] = [costs.filter(isDocumented), costs.filter((cost) => !isDocumented(cost))];
  const finding = (what: string, figures: readonly number[], max: number, unit: string): Finding =>
    atMost(`${where}: ${what}`, Math.max(0, ...figures), max, { digits: 0, unit });
  const pages = costs
    .filter(({ what }) => what.endsWith(', whole') && !what.includes('export'))
    .map(({ answerKiB }) => answerKiB / 1024);
  const turns = (some: readonly Cost[]) => some.map(({ turnMs }) => turnMs);
  const added = costs.map(({ addedMiB }) => addedMiB);
  return [
    finding(`longest turn of the event loop, of ${others.length} requests`, turns(others), MAX_TURN_MS, ' ms'),
    finding('longest turn that is documented', turns(documented), MAX_DOCUMENTED_TURN_MS, ' ms'),
    finding('memory that a request adds', added, MAX_ADDED_MIB, ' MiB'),
    finding('largest page of a list', pages, MAX_PAGE_MIB, ' MiB'),
    finding('memory above the base line a minute after', [kept], MAX_ADDED_MIB, ' MiB'),
    exactly(`${where}: internal errors`, failed(costs).length, 0),
  ];
}
