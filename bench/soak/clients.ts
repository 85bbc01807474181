import { request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { type AnsweredResult, resultSchema } from '../../test/faults/client.ts';
import type { Random } from '../../test/faults/random.ts';
import { anyTarget } from './targets.ts';

const SINGLE = z.object({ data: resultSchema.nullish().catch(null), code: z.string().default('') });
const BATCH = z.array(z.object({ result: resultSchema.nullable(), code: z.string().nullable() }));

/** Clients come within this. */
const ARRIVAL_MS = 1500;
/** Who hangs up does it within this. */
const PATIENCE_MS = 2500;
const HANG_UPS = 0.15;
const BATCHES = 0.15;
const MAX_BATCH = 5;

/** What clients saw of a service, over a whole soak. */
export class Ledger {
  /** Every record that was answered, also those of captures that failed. */
  readonly answered: AnsweredResult[] = [];
  /** How often each code was answered; `''` is success. */
  readonly codes = new Map<string, number>();
  requests = 0;
  hungUp = 0;
  /** Requests whose connection broke although the client stayed. */
  readonly broken: string[] = [];

  note(code: string, result: AnsweredResult | null): void {
    this.codes.set(code, (this.codes.get(code) ?? 0) + 1);
    if (result !== null) this.answered.push(result);
  }
}

/** One client: waits for its moment, asks for one page or a batch, and may hang up. Never rejects. */
export async function oneClient(serviceUrl: string, origin: string, random: Random, ledger: Ledger): Promise<void> {
  const arrivalMs = random.integer(0, ARRIVAL_MS);
  const size = random.next() < BATCHES ? random.integer(2, MAX_BATCH) : 1;
  const requests = Array.from({ length: size }, () => anyTarget(origin, random).request);
  const hangUpMs = random.next() < HANG_UPS ? random.integer(0, PATIENCE_MS) : undefined;

  await delay(arrivalMs);
  ledger.requests += 1;
  const leaving = new AbortController();
  const timer = hangUpMs === undefined ? undefined : setTimeout(() => leaving.abort(), hangUpMs);
  try {
    const asked =
      size === 1
        ? { path: '/screenshot', body: requests[0] }
        : { path: '/batch', body: { requests, concurrency: random.integer(1, size) } };
    const answer = JSON.parse(await post(serviceUrl + asked.path, asked.body, leaving.signal));
    if (Array.isArray(answer)) for (const { code, result } of BATCH.parse(answer)) ledger.note(code ?? '', result);
    else {
      const { code, data } = SINGLE.parse(answer);
      ledger.note(code, data ?? null);
    }
  } catch (error) {
    if (leaving.signal.aborted) ledger.hungUp += 1;
    else ledger.broken.push(String(error));
  } finally {
    clearTimeout(timer);
  }
}

/** A connection of its own for each, closed after it: none of ours stays open between the waves. */
function post(url: string, body: unknown, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const text = JSON.stringify(body);
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
    const sent = request(url, { agent: false, method: 'POST', headers, signal }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => resolve(Buffer.concat(chunks).toString()));
    });
    sent.on('error', reject);
    sent.end(text);
  });
}
