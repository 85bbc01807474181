import { expect } from 'vitest';
import type { Served } from '../commands/capstan-process.ts';
import { type AnsweredResult, capture, captureBatch, stats } from './client.ts';
import { problemsOf } from './stored-captures.ts';

/** Captures one by one until a record waits for the database; each must be answered as if nothing were wrong. */
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

/** A batch of so many; each element must be answered as if nothing were wrong. */
export async function captureMany(service: Served, url: string, count: number): Promise<readonly AnsweredResult[]> {
  const elements = await captureBatch(service.url, Array(count).fill(url), 2);
  expect(elements.map(({ code }) => code)).toEqual(Array(count).fill(''));
  return elements.flatMap(({ result }) => (result === null ? [] : [result]));
}

/** Resolves when no record waits any more; all that was answered must be there then, once. */
export async function expectAllWritten(
  service: Served,
  dataDir: string,
  answered: readonly AnsweredResult[],
): Promise<void> {
  await expect
    .poll(async () => (await stats(service.url)).store, { timeout: 60_000 })
    .toEqual({ state: 'up', outbox: 0 });
  expect(await problemsOf(service.url, dataDir, answered)).toEqual([]);
}
