import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { JobSchema } from '../../src/http/answer/schemas.ts';
import { startHeldPages } from '../cluster/held-pages.ts';
import type { RunningApp } from '../support/serve.ts';
import { describeWithTenants } from './tenants.ts';

/* One key floods the service with jobs, and another one uses it meanwhile. */

const Job = z.object({ data: JobSchema });
/** More than one key may have unfinished: half of all, of which the other half stays free for other keys. */
const FLOOD = 600;
const LIMITS = { maxConcurrent: 2, maxQueue: 200 };
/** No capture of the flood ends by its deadline. */
const DEADLINES = { timeoutMs: 240_000, maxTimeoutMs: 240_000 };

async function addJob(app: RunningApp, key: string, urls: readonly string[]): Promise<Response> {
  const requests = urls.map((url) => ({ url }));
  const answer = await app.post('/batch', { requests }, { headers: { 'X-API-Key': key, Prefer: 'respond-async' } });
  await answer.arrayBuffer();
  return answer;
}

async function acceptedJob(app: RunningApp, key: string, urls: readonly string[]): Promise<string> {
  const answer = await addJob(app, key, urls);
  expect(answer.status).toBe(202);
  return answer.headers.get('Location') ?? '';
}

/** Returns the state of a job as its key sees it; the status of the answer when there is none. */
async function stateOf(app: RunningApp, key: string, location: string): Promise<string | number> {
  const answer = await app.call(location, { headers: { 'X-API-Key': key } });
  return answer.status === 200 ? Job.parse(await answer.json()).data.state : answer.status;
}

/** Adds jobs, 20 at a time, at every app. */
async function flood(apps: readonly RunningApp[], urls: readonly string[]): Promise<readonly Response[]> {
  const answers: Response[] = [];
  const send = async (app: RunningApp) => {
    while (answers.length < FLOOD) answers.push(await addJob(app, 'flood-key', urls));
  };
  await Promise.all(Array.from({ length: 20 }, () => apps.map(send)).flat());
  return answers;
}

describe('a key that floods the service with jobs', () => {
  describeWithTenants((start) => {
    it('leaves other keys places, and their jobs do not wait for its own', async () => {
      await using pages = await startHeldPages(Number.POSITIVE_INFINITY);
      await using tenants = await start(LIMITS, DEADLINES);
      const { apps, one } = tenants;
      const answers = await flood(apps, [pages.url()]);
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202, 429]));
      const refused = answers.find(({ status }) => status === 429);
      expect(Number(refused?.headers.get('Retry-After'))).toBeGreaterThan(1);

      const location = await acceptedJob(one, 'shop-key', ['file:///x']);
      await expect.poll(() => stateOf(one, 'shop-key', location)).toBe('completed');
      // The jobs of the flood got no page yet: none of them made way by ending.
      const jobs = answers.flatMap(({ headers }) => headers.get('Location') ?? []);
      const states = await Promise.all(jobs.map((job) => stateOf(one, 'flood-key', job)));
      expect(new Set(states)).toEqual(new Set(['queued', 'running']));
    });
  });
});
