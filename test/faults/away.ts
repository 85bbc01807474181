import { expect } from 'vitest';
import type { Served } from '../commands/capstan-process.ts';
import { type AnsweredResult, capture, captureBatch, stats } from './client.ts';
import { problemsOf } from './stored-captures.ts';

/** Captures one page after another until a record waits for the database; every answer must be normal. */
export async function captureUntilOneWaits(service: Served, url: string): Promise<readonly AnsweredResult[]> {
  const answered: AnsweredResult[] = [];
  do {
    const { status, result } = await capture(service.url, { url });
    expect(status).toBe(200);
    if (result !== null) answered.push(result);
  } while ((await stats(service.url)).store.outbox === 0);
  expect((await stats(service.url)).store.state).toBe('down');
  return answered;
}

/** Captures a batch of this size; every item must be answered normally. */
export async function captureMany(service: Served, url: string, count: number): Promise<readonly AnsweredResult[]> {
  const items = await captureBatch(service.url, Array(count).fill(url), 2);
  expect(items.map(({ code }) => code)).toEqual(Array(count).fill(''));
  return items.flatMap(({ result }) => (result === null ? [] : [result]));
}

/** Resolves when no record waits for the database; every answered record must then be there exactly once. */
export async function expectAllWritten(
  service: Served,
  dataDir: string,
  answered: readonly AnsweredResult[],
): Promise<void> {
  await expect.poll(async () => (await stats(service.url)).store).toEqual({ state: 'up', outbox: 0 });
  // A probe of the directory may be under way; what is left for good stays a problem.
  await expect.poll(() => problemsOf(service.url, dataDir, answered)).toEqual([]);
}
