import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { type AnsweredResult, resultSchema } from '../../test/faults/client.ts';
import type { Random } from '../../test/faults/random.ts';
import { anyRequest } from './targets.ts';

const SINGLE = z.object({ data: resultSchema.nullish().catch(null), code: z.string().default('') });
const BATCH = z.array(z.object({ result: resultSchema.nullable(), code: z.string().nullable() }));

/** Every client of a wave starts within this time. */
const ARRIVAL_MS = 1500;
/** A client that disconnects does so within this time. */
const DISCONNECT_MS = 2500;
const DISCONNECT_SHARE = 0.15;
const BATCH_SHARE = 0.15;
const MAX_BATCH = 5;

/** Answers to the clients of a whole soak. */
export class Ledger {
  requests = 0;
  hungUp = 0;
  /** Every answered record, including those of failed captures. */
  readonly records: AnsweredResult[] = [];
  /** Connections that broke although the client was there. */
  readonly problems: string[] = [];
  /** Number of answers by error code; `''` is success. */
  readonly codes = new Map<string, number>();

  note(code: string, result: AnsweredResult | null): void {
    this.codes.set(code, (this.codes.get(code) ?? 0) + 1);
    if (result !== null) this.records.push(result);
  }
}

/** One client: starts at a random time, requests one page or a batch, and may disconnect. Never rejects. */
export async function oneClient(serviceUrl: string, origin: string, random: Random, ledger: Ledger): Promise<void> {
  const arrivalMs = random.integer(0, ARRIVAL_MS);
  const size = random.next() < BATCH_SHARE ? random.integer(2, MAX_BATCH) : 1;
  const requests = Array.from({ length: size }, () => anyRequest(origin, random));
  const hangUpMs = random.next() < DISCONNECT_SHARE ? random.integer(0, DISCONNECT_MS) : undefined;

  await delay(arrivalMs);
  ledger.requests += 1;
  const leaving = new AbortController();
  const timer = hangUpMs === undefined ? undefined : setTimeout(() => leaving.abort(), hangUpMs);
  try {
    const asked =
      size === 1
        ? { path: '/screenshot', body: requests[0] }
        : { path: '/batch', body: { requests, concurrency: random.integer(1, size) } };
    // On a connection of its own, so that no connection stays open between waves.
    const response = await fetch(serviceUrl + asked.path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', connection: 'close' },
      body: JSON.stringify(asked.body),
      signal: leaving.signal,
    });
    const answer = await response.json();
    if (Array.isArray(answer)) for (const { code, result } of BATCH.parse(answer)) ledger.note(code ?? '', result);
    else {
      const { code, data } = SINGLE.parse(answer);
      ledger.note(code, data ?? null);
    }
  } catch (error) {
    if (leaving.signal.aborted) ledger.hungUp += 1;
    else ledger.problems.push(String(error));
  } finally {
    clearTimeout(timer);
  }
}
