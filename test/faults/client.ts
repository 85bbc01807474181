import { once } from 'node:events';
import { Agent, request as httpRequest } from 'node:http';
import type { Socket } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';

/** A record without its evidence, which lists and batches do not contain. */
export const resultSchema = z
  .looseObject({
    id: z.int(),
    url: z.string(),
    screenshot: z.string(),
    width: z.number(),
    height: z.number(),
    failed: z.boolean(),
    partial: z.boolean(),
    partial_phase: z.string(),
  })
  .transform(({ evidence: _evidence, ...record }) => record);
export type AnsweredResult = z.infer<typeof resultSchema>;

const captureSchema = z.object({ data: resultSchema.nullish(), code: z.string().optional() });
const batchSchema = z.array(z.object({ result: resultSchema.nullable(), code: z.string().nullable() }));
const statsSchema = z.object({
  data: z.object({
    captures: z.record(z.string(), z.number()),
    pool: z.object({
      busy: z.number(),
      browsers: z.array(z.object({ pid: z.number() })),
      crashes: z.number(),
    }),
    store: z.object({ state: z.string(), outbox: z.number() }),
  }),
});
const readinessSchema = z.object({
  data: z.object({ degraded: z.array(z.string()) }).optional(),
  code: z.string().optional(),
});
const infosSchema = z.array(z.object({ id: z.int(), bytes: z.number(), sha256: z.string() }));
export type AnsweredInfo = z.infer<typeof infosSchema>[number];

export interface Answered {
  readonly status: number;
  /** The error code; `''` when there is none. */
  readonly code: string;
  /** The record that was reported as stored, including those of failed captures. */
  readonly result: AnsweredResult | null;
}

/** Sends `POST /screenshot`. Rejects when the connection breaks, as it does when the service is killed. */
export async function capture(serviceUrl: string, request: Readonly<Record<string, unknown>>): Promise<Answered> {
  const response = await post(`${serviceUrl}/screenshot`, request);
  return answered(response.status, await response.json());
}

/** Sends captures, one after another, over a connection that is open. */
export class OpenConnection {
  readonly #socket: Socket;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });

  constructor(socket: Socket) {
    this.#socket = socket;
    this.#agent.createConnection = () => socket;
  }

  /** Sends `POST /screenshot`. Rejects when the connection is closed before the answer. */
  async capture(request: Readonly<Record<string, unknown>>): Promise<Answered> {
    // Over a closed socket, Node's request would emit nothing at all.
    if (this.#socket.destroyed) throw new Error('the service closed the connection before the request');
    const body = JSON.stringify(request);
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      host: 'localhost',
    };
    const sent = httpRequest({ agent: this.#agent, method: 'POST', path: '/screenshot', headers });
    const [response] = await once(sent.end(body), 'response');
    return answered(response.statusCode, await json(response));
  }
}

/** Asks again, each second, while an overloaded service refuses the work, as its clients do. */
export async function untilAccepted<T extends Answered | readonly Answered[]>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (![answer].flat().every(({ code }) => code === 'queue_full')) return answer;
    await delay(1000);
  }
}

function answered(status: number, body: unknown): Answered {
  const { data, code } = captureSchema.parse(body);
  return { status, code: code ?? '', result: data ?? null };
}

/**
 * Sends `POST /batch`: returns the outcome of each item as if it had been requested alone. A refused batch is
 * refused for each of them.
 */
export async function captureBatch(
  serviceUrl: string,
  urls: readonly string[],
  concurrency: number,
  timeoutMs?: number,
): Promise<readonly Answered[]> {
  const requests = urls.map((url) => ({ url, timeoutMs }));
  const response = await post(`${serviceUrl}/batch`, { requests, concurrency });
  const body = await response.json();
  if (!response.ok) {
    const refusal = answered(response.status, body);
    return requests.map(() => refusal);
  }
  return batchSchema.parse(body).map(({ result, code }) => ({ status: response.status, code: code ?? '', result }));
}

export async function stats(serviceUrl: string): Promise<z.infer<typeof statsSchema>['data']> {
  return statsSchema.parse(await (await fetch(`${serviceUrl}/stats`)).json()).data;
}

/** Asks `/readyz`. `degraded` is empty unless the service is ready. */
export async function readiness(
  serviceUrl: string,
): Promise<{ readonly status: number; readonly code: string; readonly degraded: readonly string[] }> {
  const response = await fetch(`${serviceUrl}/readyz`);
  const { data, code } = readinessSchema.parse(await response.json());
  return { status: response.status, code: code ?? '', degraded: data?.degraded ?? [] };
}

/** Returns every record, page by page. */
export async function allResults(serviceUrl: string): Promise<readonly AnsweredResult[]> {
  const listSchema = z.object({ data: z.array(resultSchema) });
  return pages(`${serviceUrl}/results?limit=1000`, (body) => listSchema.parse(body).data);
}

/** Returns every stored screenshot, page by page. */
export async function allScreenshots(serviceUrl: string): Promise<readonly AnsweredInfo[]> {
  return pages(`${serviceUrl}/screenshots?limit=1000`, (body) => infosSchema.parse(body));
}

export async function oneResult(serviceUrl: string, id: number): Promise<AnsweredResult | null> {
  const response = await fetch(`${serviceUrl}/results/${id}`);
  return response.ok ? z.object({ data: resultSchema }).parse(await response.json()).data : null;
}

async function pages<T>(first: string, itemsOf: (body: unknown) => readonly T[]): Promise<readonly T[]> {
  const items: T[] = [];
  for (let next: string | undefined = first; next !== undefined; ) {
    const response: Response = await fetch(next);
    if (!response.ok) throw new Error(`${next} answered ${response.status}`);
    items.push(...itemsOf(await response.json()));
    const link: string | undefined = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
    next = link === undefined ? undefined : new URL(link, next).href;
  }
  return items;
}

/** Sends JSON with `POST`. */
export function post(url: string, body: unknown): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}
