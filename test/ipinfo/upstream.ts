import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Record as the upstream sends it. */
export const BRISBANE = {
  ip: '1.1.1.1',
  network: '1.1.1.0/24',
  version: 'IPv4',
  city: 'Brisbane',
  region: 'Queensland',
  region_code: 'QLD',
  country: 'AU',
  country_name: 'Australia',
  country_code: 'AU',
  country_code_iso3: 'AUS',
  country_capital: 'Canberra',
  country_tld: '.au',
  continent_code: 'OC',
  in_eu: false,
  postal: '04000',
  latitude: -27.47,
  longitude: 153.01,
  timezone: 'Australia/Brisbane',
  utc_offset: '+1000',
  languages: 'en-AU',
  country_calling_code: '+61',
  currency: 'AUD',
  currency_name: 'Dollar',
  country_area: 7686850,
  country_population: 24992369,
  asn: 'AS13335',
  org: 'CLOUDFLARENET',
  hostname: 'one.one.one.one',
};

export interface Seen {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

type Answer = (response: ServerResponse, request: IncomingMessage, nth: number) => void;

/** A real server in the role of the upstream. Its answers can be changed at any time. */
export class Upstream implements AsyncDisposable {
  readonly seen: Seen[] = [];
  answer: Answer = json(200, BRISBANE);
  readonly #server = createServer((request, response) => {
    this.seen.push({ path: request.url ?? '', headers: request.headers });
    for (const arrive of this.#arrivals.splice(0)) arrive();
    this.answer(response, request, this.seen.length);
  });
  readonly #arrivals: (() => void)[] = [];

  /** Starts the server, without the requests and the answer of earlier tests. */
  async listen(): Promise<this> {
    this.seen.length = 0;
    this.answer = json(200, BRISBANE);
    this.#arrivals.length = 0;
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return this;
  }

  get port(): number {
    const address: AddressInfo | string | null = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/`;
  }

  get sends(): number {
    return this.seen.length;
  }

  /** Resolves when the next request arrives. */
  arrival(): Promise<void> {
    return new Promise((resolve) => this.#arrivals.push(resolve));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

export function json(status: number, value: unknown, headers: Record<string, string> = {}): Answer {
  return body(status, JSON.stringify(value), { 'content-type': 'application/json', ...headers });
}

export function body(status: number, text: string | Uint8Array, headers: Record<string, string> = {}): Answer {
  return (response) => {
    response.writeHead(status, headers);
    response.end(text);
  };
}

/** Returns an answer that uses `answers` in order, and repeats the last one. */
export function inTurn(...answers: readonly Answer[]): Answer {
  let turn = 0;
  return (response, request, nth) => {
    const answer = answers[Math.min(turn, answers.length - 1)];
    turn += 1;
    answer?.(response, request, nth);
  };
}

/** Accepts the request and never answers. */
export const silence: Answer = () => {};

/** Closes the connection abruptly. */
export const hangUp: Answer = (response) => {
  response.socket?.destroy();
};

/** Returns the error that an operation rejected with; fails when it resolved. */
export async function failureOf(work: PromiseLike<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error('It was expected to fail.');
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
