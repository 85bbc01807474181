import { readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { listening } from '../test/egress/listening.ts';
import { makeDirectory } from '../test/support/temporary-directory.ts';
import type { BenchOptions } from './support/bench.ts';
import { DEAR_PAGES } from './support/dear-pages.ts';
import { dearestOf, type Schema, type Schemas } from './support/dearest.ts';
import { besideRequests, type Dear } from './support/neighbour.ts';
import { startServiceOn } from './support/service-on.ts';
import type { ServiceProcess } from './support/service-process.ts';
import { percentile } from './support/statistics.ts';
import { atMost, exactly, type Finding, formatTable } from './support/table.ts';

/*
 * Cost of a request, field by field. The requests come from the OpenAPI document, so a new field or list is in it
 * by being in the schema; the pages are dear for whatever reads elements.
 */

const MAX_TURN_MS = 50;
/** For requests that docs/security.md names: those with many problems, and the first interactive capture. */
const MAX_DOCUMENTED_TURN_MS = 150;
/**
 * Times that a request with a longer turn is sent, of which the shortest counts: what a request costs does not change,
 * and other programs, which share the caches and the core, only add to it.
 */
const ATTEMPTS = 3;
const MAX_ADDED_MIB = 100;
const MAX_BODY_BYTES = 900_000;
/** Maximum size of a parameter's value, before it is escaped: Node reads 16 KiB of headers. */
const MAX_QUERY_BYTES = 10_000;
/** Objects of a kind that are stored before its list is read; a key may be refused earlier. */
const MAX_STORED = 400;
const KEY = 'asking-key';
const OTHER_KEY = 'other-key';
const MIB = 1024 ** 2;
/** Number of requests beside which another key is measured: those with the longest turns, and as many of the slowest. */
const BESIDE = 6;
/** Visits of the other key beside each of them. */
const VISITS = 7;
const MAX_TIMES_BESIDE = 1.5;
/** Time after which the memory of all requests must be given back. */
const REST_MS = 60_000;

interface Parameter {
  readonly in: string;
  readonly name: string;
  readonly schema: Schema;
  readonly required?: boolean;
}
interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}
interface Contract {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Schemas };
}

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
interface Cost {
  readonly what: string;
  readonly status: number;
  readonly turnMs: number;
  readonly addedMiB: number;
  readonly answerKiB: number;
  readonly ms: number;
}

/** The output of the probe. */
interface Probed {
  readonly turnMs: number;
  readonly memory: Readonly<Record<string, number>>;
}

/** The service, with what it takes to measure it. */
class Measured {
  readonly costs: Cost[] = [];
  /** The requests with the longest turns, and the slowest ones. */
  dearest: readonly (Cost & Dear)[] = [];
  readonly #service: ServiceProcess;
  readonly #turns: string;
  #memory: Probed['memory'] = {};
  readonly report: (line: string) => void;

  constructor(service: ServiceProcess, turns: string, report: (line: string) => void) {
    this.report = report;
    this.#service = service;
    this.#turns = turns;
  }

  /** Sends a request, and notes what it cost. Resolves with the text of its answer. */
  async ask(what: string, method: string, path: string, body?: unknown): Promise<string> {
    const { text, ...cost } = await this.#once(what, method, path, body);
    let { turnMs } = cost;
    for (let attempt = 1; attempt < ATTEMPTS && turnMs > MAX_TURN_MS; attempt += 1) {
      turnMs = Math.min(turnMs, (await this.#once(what, method, path, body)).turnMs);
    }
    this.costs.push({ ...cost, turnMs });
    const asked = [...this.dearest, { ...cost, turnMs, send: () => this.send(method, path, body) }];
    const first = (of: (cost: Cost) => number) => asked.toSorted((a, b) => of(b) - of(a)).slice(0, BESIDE);
    this.dearest = [...new Set([...first((each) => each.turnMs), ...first((each) => each.ms)])];
    return text;
  }

  async #once(what: string, method: string, path: string, body?: unknown): Promise<Cost & { readonly text: string }> {
    await this.#longestTurn();
    const before = await this.residentMiB();
    let peak = before;
    const over = new AbortController();
    const sampling = this.#sample(over.signal, (now) => {
      peak = Math.max(peak, now);
    });
    const since = performance.now();
    const { status, text } = await this.send(method, path, body);
    const ms = performance.now() - since;
    if (ms > 5000) this.report(`${what}: ${(ms / 1000).toFixed()} s, ${status}`);
    over.abort();
    await sampling;
    const turnMs = await this.#longestTurn();
    return { what, status, turnMs, addedMiB: peak - before, answerKiB: text.length / 1024, ms, text };
  }

  /** Says where the memory of the process is: most of what is not the heap is the allocator's, and of other threads. */
  async memory(): Promise<string> {
    await this.#longestTurn();
    const parts = Object.entries(this.#memory).map(([name, bytes]) => `${name} ${(bytes / MIB).toFixed()}`);
    return `${parts.join(', ')} MiB`;
  }

  async send(method: string, path: string, body?: unknown, key = KEY): Promise<{ status: number; text: string }> {
    const headers = { 'x-api-key': key, ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
    const text = body === undefined ? null : JSON.stringify(body);
    const response = await fetch(this.#service.origin + path, { method, headers, body: text });
    return { status: response.status, text: await response.text() };
  }

  /** Milliseconds of the longest turn since the last call. */
  async #longestTurn(): Promise<number> {
    await rm(this.#turns, { force: true });
    process.kill(this.#service.pid, 'SIGUSR2');
    for (;;) {
      const text = await readFile(this.#turns, 'utf8').catch(() => '');
      if (text.endsWith('}')) {
        const { turnMs, memory }: Probed = JSON.parse(text);
        this.#memory = memory;
        return turnMs;
      }
      await delay(5);
      // Throws when the service has ended.
      process.kill(this.#service.pid, 0);
    }
  }

  async residentMiB(): Promise<number> {
    const [, pages] = (await readFile(`/proc/${this.#service.pid}/statm`, 'utf8')).split(' ');
    return (Number(pages) * 4096) / MIB;
  }

  async #sample(signal: AbortSignal, note: (mib: number) => void): Promise<void> {
    while (!signal.aborted) {
      note(await this.residentMiB());
      await delay(20);
    }
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
  const { browserPath, print, report } = options;
  const urlOf = (name: string) => site + encodeURIComponent(name);
  const folder = await makeDirectory();
  const [turns, keyFile] = [join(folder, 'turns'), join(folder, 'keys')];
  await writeFile(keyFile, `asking:${KEY}:100000\nother:${OTHER_KEY}\n`, { mode: 0o600 });
  const probe = join(import.meta.dirname, 'support/turn-probe.ts');
  await using running = new AsyncDisposableStack();
  const args = ['--isolate-keys', '--api-key-file', keyFile];
  const env = { BENCH_TURNS: turns, NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import=${probe}` };
  const service = await startServiceOn(where, { browserPath, args, env }, running);
  const measured = new Measured(service, turns, report);
  const contract = JSON.parse((await measured.send('GET', '/openapi.json')).text) as Contract;
  await warmUp(measured, urlOf('small'));
  const base = await measured.residentMiB();
  report(`${where}: at the base line ${await measured.memory()}`);
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
  report(`${where}: at the end ${await measured.memory()}`);
  const visit = () => visitAs(measured, OTHER_KEY, urlOf('small'));
  const visits = await besideRequests(measured.dearest, visit, VISITS, print);
  const times = percentile(visits.beside, 0.95) / percentile(visits.alone, 0.95);
  // The watches that were stored would go on.
  await removeWatches(measured);
  await delay(REST_MS);
  report(`${where}: a minute after ${await measured.memory()}`);
  const kept = (await measured.residentMiB()) - base;
  const beside = `${where}: p95 of a visit of another key beside the dearest requests, of its time alone`;
  return [...findings(where, measured.costs, kept, print), atMost(beside, times, MAX_TIMES_BESIDE)];
}

/** Sends each field of each body and each query parameter with its dearest values. */
async function askFields(measured: Measured, { paths, components }: Contract, url: string): Promise<void> {
  const seen = new Set<string>();
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, { parameters = [], requestBody }] of Object.entries(operations)) {
      if (method === 'head' || path === '/limits' || path.includes('session') || path === '/events') continue;
      const to = path.replace('{id}', '1');
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
        const constants = Object.entries(properties).flatMap(([name, each]) =>
          'const' in each ? [[name, each.const]] : [],
        );
        const fixed = { ...Object.fromEntries(constants), ...('url' in properties ? { url, timeoutMs: 1500 } : {}) };
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

/** Stores up to `MAX_STORED` large watches and queries, then reads the lists that take a `limit`. */
async function askLists(measured: Measured, { paths, components }: Contract, url: string): Promise<void> {
  const large = 'x'.repeat(60_000);
  const bodies: Readonly<Record<string, (at: number) => unknown>> = {
    '/watches': (at) => ({
      url: `${url}?${at}`,
      every: '300d',
      css: `/*${large}*/`,
      javascript: { before: `//${large}`, after: `//${large}` },
      hide: Array.from({ length: 50 }, () => `.${large.slice(0, 999)}`),
      mask: Array.from({ length: 50 }, () => `.${large.slice(0, 999)}`),
    }),
    '/queries': () => ({ filter: { type: ['capture.stored'], text: large.slice(0, 200) } }),
  };
  for (const [path, body] of Object.entries(bodies)) {
    for (let at = 0; at < MAX_STORED; at += 1) {
      const { status } = await measured.send('POST', path, body(at));
      if (status >= 400) break;
    }
  }
  for (const [path, { get }] of Object.entries(paths)) {
    const limit = get?.parameters?.find((each) => each.name === 'limit');
    if (limit === undefined || path.includes('{id}') || path.includes('/by-')) continue;
    const [value] = dearestOf(limit.schema, components.schemas, MAX_QUERY_BYTES);
    await measured.ask(`get ${path}, whole`, 'GET', `${path}?limit=${value}`);
  }
}

/** Captures a page with every output, reads every view of it, and compares it with itself. */
async function askPage(measured: Measured, { paths, components }: Contract, name: string, url: string): Promise<void> {
  const outputs = components.schemas.ScreenshotRequest?.properties?.outputs?.items?.enum ?? [];
  const request = { url, fullPage: true, outputs };
  const ids: number[] = [];
  for (const _ of [0, 1]) {
    const answer = await measured.ask(`${name}: capture`, 'POST', '/screenshot', request);
    const id: unknown = JSON.parse(answer).data?.id;
    if (typeof id === 'number') ids.push(id);
  }
  const [a, b] = ids;
  const views = paths['/screenshot/{id}']?.get?.parameters?.find((each) => each.name === 'view')?.schema.enum ?? [];
  for (const view of a === undefined ? [] : views) {
    await measured.ask(`${name}: view=${view}`, 'GET', `/screenshot/${a}?view=${view}`);
  }
  if (b !== undefined) await measured.ask(`${name}: compare`, 'GET', `/compare?a=${a}&b=${b}`);
  await measured.ask(`${name}: stability`, 'POST', '/captures/stability', { url, fullPage: true });
}

/**
 * Uses each part that is loaded with its first use, so that it belongs to the base line: Playwright, comparisons with
 * their thread, thumbnails, stability. The turn of the first interactive capture counts.
 */
async function warmUp(measured: Measured, url: string): Promise<void> {
  const outputs = ['markdown', 'text', 'links', 'metadata'];
  const ids: number[] = [];
  for (const _ of [0, 1]) {
    const { status, text } = await measured.send('POST', '/screenshot', { url, outputs });
    if (status !== 200) throw new Error(`a capture to warm up was answered ${status}: ${text}`);
    ids.push(JSON.parse(text).data.id);
  }
  await measured.send('GET', `/compare?a=${ids[0]}&b=${ids[1]}`);
  await measured.send('GET', `/screenshot/${ids[0]}/thumbnail`);
  await measured.send('POST', '/captures/stability', { url });
  await measured.ask('the first interactive capture', 'POST', '/screenshot', { url, waitForFunction: 'true' });
}

/** Captures a page as another key does, reads it, and lists the newest. */
async function visitAs(measured: Measured, key: string, url: string): Promise<void> {
  const { status, text } = await measured.send('POST', '/screenshot', { url }, key);
  if (status !== 200) throw new Error(`a neighbour's capture was answered ${status}: ${text}`);
  await measured.send('GET', `/screenshot/${JSON.parse(text).data.id}`, undefined, key);
  await measured.send('GET', '/results?limit=20', undefined, key);
}

async function removeWatches(measured: Measured): Promise<void> {
  for (;;) {
    const { text } = await measured.send('GET', '/watches?limit=1000');
    const watches: readonly { readonly id: number }[] = JSON.parse(text).data ?? [];
    if (watches.length === 0) return;
    for (const { id } of watches) await measured.send('DELETE', `/watches/${id}`);
  }
}

function findings(where: string, costs: readonly Cost[], kept: number, print: (text: string) => void): Finding[] {
  const dearest = (of: (cost: Cost) => number, max: number) =>
    costs
      .filter((cost) => of(cost) > max)
      .toSorted((one, other) => of(other) - of(one))
      .slice(0, 25);
  const failed = costs.filter(({ status }) => status === 500);
  const shown = new Set([
    ...failed.slice(0, 25),
    ...dearest(({ turnMs }) => turnMs, MAX_TURN_MS),
    ...dearest(({ addedMiB }) => addedMiB, MAX_ADDED_MIB),
    ...dearest(({ ms }) => ms, 0).slice(0, 5),
  ]);
  const rows = [...shown].map(({ what, status, turnMs, addedMiB, answerKiB, ms }) => [
    what,
    ...[status, turnMs, addedMiB, answerKiB, ms].map((each) => each.toFixed()),
  ]);
  print(formatTable(['request', 'status', 'turn ms', 'added MiB', 'answer KiB', 'ms'], rows));
  const isDocumented = ({ what, status }: Cost) => status === 400 || what === 'the first interactive capture';
  const [documented, others] = [costs.filter(isDocumented), costs.filter((cost) => !isDocumented(cost))];
  const finding = (what: string, figures: readonly number[], max: number, unit: string): Finding =>
    atMost(`${where}: ${what}`, Math.max(0, ...figures), max, { digits: 0, unit });
  const turns = (some: readonly Cost[]) => some.map(({ turnMs }) => turnMs);
  const added = costs.map(({ addedMiB }) => addedMiB);
  return [
    finding(`longest turn of the event loop, of ${others.length} requests`, turns(others), MAX_TURN_MS, ' ms'),
    finding('longest turn that is documented', turns(documented), MAX_DOCUMENTED_TURN_MS, ' ms'),
    finding('memory that a request adds', added, MAX_ADDED_MIB, ' MiB'),
    finding('memory above the base line a minute after', [kept], MAX_ADDED_MIB, ' MiB'),
    exactly(`${where}: internal errors`, failed.length, 0),
  ];
}
