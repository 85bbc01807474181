import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { resultSchema } from '../../test/faults/client.ts';
import type { Random } from '../../test/faults/random.ts';
import { post } from '../support/capture-client.ts';
import { Answers } from './process-fault.ts';
import { anyTarget } from './targets.ts';

const SINGLE = z.object({ data: resultSchema.nullish().catch(null), code: z.string().default('') });
const BATCH = z.array(z.object({ result: resultSchema.nullable(), code: z.string().nullable() }));

/** Every client of a wave starts within this time. */
const ARRIVAL_MS = 1500;
/** A client that disconnects does so within this time. */
const DISCONNECT_MS = 2500;
const DISCONNECT_SHARE = 0.15;
const BATCH_SHARE = 0.15;
const MAX_BATCH = 5;

/** Answers to the clients of a whole soak. Its problems are connections that broke although the client was there. */
export class Ledger extends Answers {
  requests = 0;
  hungUp = 0;
}

/** One client: starts at a random time, requests one page or a batch, and may disconnect. Never rejects. */
export async function oneClient(serviceUrl: string, origin: string, random: Random, ledger: Ledger): Promise<void> {
  const arrivalMs = random.integer(0, ARRIVAL_MS);
  const size = random.next() < BATCH_SHARE ? random.integer(2, MAX_BATCH) : 1;
  const requests = Array.from({ length: size }, () => anyTarget(origin, random).request);
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
    const { body } = await post(serviceUrl + asked.path, asked.body, { agent: false, signal: leaving.signal });
    const answer = JSON.parse(body);
    if (Array.isArray(answer))
      for (const { code, result } of BATCH.parse(answer)) ledger.note({ code: code ?? '', result });
    else {
      const { code, data } = SINGLE.parse(answer);
      ledger.note({ code, result: data ?? null });
    }
  } catch (error) {
    if (leaving.signal.aborted) ledger.hungUp += 1;
    else ledger.problems.push(String(error));
  } finally {
    clearTimeout(timer);
  }
}
