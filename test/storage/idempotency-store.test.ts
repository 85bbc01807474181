import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createNoDatabase } from '../../src/storage/memory/no-database.ts';
import type { Database } from '../../src/storage/ports/database.ts';
import { type Attempt, CLAIM_TIMES } from '../../src/storage/ports/idempotency-store.ts';
import { describeInEachDatabase } from './each-database.ts';

const digest = (text: string) => createHash('sha256').update(text).digest();

let names = 0;
/** Returns a function that creates attempts with one key, a new one for each test. */
function attempts() {
  const key = digest(`key ${names++}`);
  return (owner: string, body = 'body'): Attempt => ({ key, digest: digest(body), owner, client: null });
}

function describeIdempotency(open: () => Promise<Database>, shared: boolean): void {
  let store: Database;
  const answer = Buffer.from([0, 1, 2, 255]);

  beforeAll(async () => {
    store = await open();
  });

  afterAll(() => store?.close());

  it('gives a key to the first of many concurrent claims', async () => {
    const attempt = attempts();
    const claims = await Promise.all(['a', 'b', 'c', 'd'].map((owner) => store.idempotency.claim(attempt(owner))));
    expect(claims.map(({ state }) => state).toSorted()).toEqual(['begun', 'in_flight', 'in_flight', 'in_flight']);
  });

  it('answers later claims with the stored answer, byte for byte', async () => {
    const attempt = attempts();
    await store.idempotency.claim(attempt('a'));
    await store.idempotency.keep(attempt('a'), answer);
    const claim = await store.idempotency.claim(attempt('b'));
    expect(claim).toEqual({ state: 'answered', answer: expect.any(Uint8Array) });
    if (claim.state === 'answered') expect(Buffer.from(claim.answer).equals(answer)).toBe(true);
  });

  it('reports a mismatch for another body under the same key, both in progress and once answered', async () => {
    const attempt = attempts();
    await store.idempotency.claim(attempt('a'));
    expect(await store.idempotency.claim(attempt('b', 'other'))).toEqual({ state: 'mismatch' });
    await store.idempotency.keep(attempt('a'), answer);
    expect(await store.idempotency.claim(attempt('b', 'other'))).toEqual({ state: 'mismatch' });
  });

  it('says which keys are claimed, in use or answered', async () => {
    const attempt = attempts();
    const { key } = attempt('a');
    expect(await store.idempotency.isClaimed(key)).toBe(false);
    await store.idempotency.claim(attempt('a'));
    expect(await store.idempotency.isClaimed(key)).toBe(true);
    await store.idempotency.keep(attempt('a'), answer);
    expect(await store.idempotency.isClaimed(key)).toBe(true);
    const other = attempts();
    await store.idempotency.claim(other('a'));
    await store.idempotency.forget(other('a'));
    expect(await store.idempotency.isClaimed(other('a').key)).toBe(false);
  });

  it('forgets a key that was released', async () => {
    const attempt = attempts();
    await store.idempotency.claim(attempt('a'));
    await store.idempotency.forget(attempt('a'));
    expect(await store.idempotency.claim(attempt('b', 'other'))).toEqual({ state: 'begun' });
  });

  if (!shared) return;

  it('removes the oldest answers of an API key that has too many, and none of others', async () => {
    const keys = Array.from({ length: 6 }, () => attempts());
    const attemptOf = (at: number, owner: string) => ({ ...(keys[at] ?? attempts())(owner), client: 'flood' });
    const other = attempts();
    await store.idempotency.claim(other('a'));
    await store.idempotency.keep(other('a'), answer);
    for (let at = 0; at < keys.length; at += 1) {
      await store.idempotency.claim(attemptOf(at, 'a'));
      await store.idempotency.keep(attemptOf(at, 'a'), Buffer.alloc(10_000), { count: 4, bytes: 1_000_000 });
      await delay(2);
    }
    const isKept = (at: number) => store.idempotency.isClaimed(attemptOf(at, 'a').key);
    expect(await Promise.all(keys.map((_, at) => isKept(at)))).toEqual([false, false, true, true, true, true]);
    await store.idempotency.claim({ ...attempts()('b'), client: 'flood' });
    const last = { ...attempts()('c'), client: 'flood' };
    await store.idempotency.claim(last);
    await store.idempotency.keep(last, answer, { count: 60, bytes: 15_000 });
    expect(await Promise.all(keys.map((_, at) => isKept(at)))).toEqual([false, false, false, false, false, true]);
    expect(await store.idempotency.isClaimed(other('a').key)).toBe(true);
  });

  it('passes a key whose lease was not renewed to the next claim, and ignores the former owner from then on', async () => {
    const attempt = attempts();
    await store.idempotency.claim(attempt('a'), { ...CLAIM_TIMES, leaseMs: 0 });
    expect(await store.idempotency.claim(attempt('b'))).toEqual({ state: 'begun' });
    await store.idempotency.keep(attempt('a'), answer);
    await store.idempotency.forget(attempt('a'));
    expect(await store.idempotency.claim(attempt('c'))).toEqual({ state: 'in_flight' });
  });

  it('leaves a renewed key to its owner', async () => {
    const attempt = attempts();
    await store.idempotency.claim(attempt('a'), { ...CLAIM_TIMES, leaseMs: 0 });
    await store.idempotency.renew(attempt('a'));
    expect(await store.idempotency.claim(attempt('b'))).toEqual({ state: 'in_flight' });
  });

  it('removes a key after its time to live, answered or not', async () => {
    for (const end of ['keep', 'renew'] as const) {
      const attempt = attempts();
      await store.idempotency.claim(attempt('a'), { ...CLAIM_TIMES, lifeMs: 0 });
      await store.idempotency[end](attempt('a'), answer);
      expect(await store.idempotency.isClaimed(attempt('a').key)).toBe(false);
      expect(await store.idempotency.claim(attempt('b', 'other'))).toEqual({ state: 'begun' });
    }
  });

  it('still has an answer after it is reopened', async () => {
    const attempt = attempts();
    await store.idempotency.claim(attempt('a'));
    await store.idempotency.keep(attempt('a'), answer);
    await store.close();
    store = await open();
    expect(await store.idempotency.claim(attempt('b'))).toMatchObject({ state: 'answered' });
  });
}

describe('the keys of idempotent requests', () => {
  describe('in memory', () => {
    describeIdempotency(async () => createNoDatabase(), false);
  });

  describeInEachDatabase((open) => describeIdempotency(open, true));
});

describe('idempotency keys in memory', () => {
  it('forget the oldest answers of one API key for new ones, and none of another', async () => {
    const { idempotency, close } = createNoDatabase();
    const keep = async (client: string, text: string, answer = 'answer') => {
      const attempt = { key: digest(`${client} ${text}`), digest: digest('body'), owner: 'a', client };
      const claim = await idempotency.claim(attempt);
      if (claim.state === 'begun') await idempotency.keep(attempt, Buffer.from(answer));
      return claim.state;
    };
    await keep('shop', 'first');
    for (let index = 0; index < 1_100; index += 1) await keep('flood', String(index));
    expect(await keep('shop', 'first')).toBe('answered');
    expect(await keep('flood', '1099')).toBe('answered');
    expect(await keep('flood', '0')).toBe('begun');
    // 16 MiB of answers are kept.
    for (let index = 0; index < 17; index += 1) await keep('flood', `large ${index}`, 'x'.repeat(2 ** 20));
    expect(await keep('flood', '1098')).toBe('begun');
    expect(await keep('flood', 'large 16')).toBe('answered');
    expect(await keep('shop', 'first')).toBe('answered');
    await close();
  });
});
