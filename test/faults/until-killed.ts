import { setTimeout as delay } from 'node:timers/promises';
import type { Served } from '../commands/capstan-process.ts';
import type { Site } from '../fixtures/site.ts';
import { type AnsweredResult, capture, captureBatch, untilAccepted } from './client.ts';
import type { Random } from './random.ts';

/** Pages that are captured quickly, so that most captures in progress are being stored; and one that fails. */
const PATHS = ['/title?t=one', '/title?t=two', '/short', '/404', '/empty-response'] as const;
const CLIENTS = 4;

/**
 * Sends batches and single captures, and kills the service with -9 at a random moment. Resolves with the answers.
 * `beforeKill` is called under this load, right before the kill.
 */
export async function runUntilKilled(
  service: Served,
  site: Pick<Site, 'url'>,
  random: Random,
  beforeKill: () => Promise<void> = async () => undefined,
): Promise<readonly AnsweredResult[]> {
  const answered: AnsweredResult[] = [];
  const enough = random.integer(2, 7);
  const lateMs = random.integer(0, 150);
  const anyUrl = () => site.url(random.pick(PATHS));
  let killed = false;
  const note = async (results: readonly (AnsweredResult | null)[]) => {
    const before = answered.length;
    answered.push(...results.filter((result) => result !== null));
    if (before >= enough || answered.length < enough) return;
    await delay(lateMs);
    await beforeKill();
    killed = true;
    service.child.kill('SIGKILL');
  };
  const worker = async () => {
    while (!killed) await note([(await untilAccepted(() => capture(service.url, { url: anyUrl() }))).result]);
  };
  const batches = async () => {
    while (!killed) {
      const urls = [anyUrl(), anyUrl(), anyUrl()];
      const items = await untilAccepted(() => captureBatch(service.url, urls, 2));
      await note(items.map(({ result }) => result));
    }
  };
  // Answers that were being sent when the service was killed are broken off.
  const brokenOff = (error: unknown) => {
    if (!killed) throw error;
  };
  await Promise.all([...Array.from({ length: CLIENTS }, worker), batches()].map((client) => client.catch(brokenOff)));
  await service.ended;
  return answered;
}
