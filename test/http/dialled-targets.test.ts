import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { startHeldPages } from '../cluster/held-pages.ts';
import { freePort } from '../support/free-port.ts';
import { startSilentListener } from '../support/silent-listener.ts';
import { describeWithTenants, tenantsForSuite } from './tenants.ts';

/* Two keys. One sends a list of targets that never answer, the other captures a page meanwhile. */

const Answer = z.object({
  code: z.string().optional(),
  data: z.object({ failed: z.boolean(), timings: z.record(z.string(), z.number()) }),
});
const Stats = z.object({
  data: z.object({ dials: z.object({ reached: z.number(), dead: z.record(z.string(), z.number()) }) }),
});

const as = (key: string) => ({ headers: { 'X-API-Key': key } });

describe('targets that are dialled before their captures have a browser', () => {
  describeWithTenants((start, apiNodes) => {
    const running = tenantsForSuite(() =>
      start(
        { maxConcurrent: 2, maxQueue: 1000, clusterMaxConcurrent: 1000, allowTargets: ['127.0.0.0/8'] },
        { maxBatch: 500 },
      ),
    );

    it('say how long that took when they are reached, and why not when they are dead', async () => {
      await using pages = await startHeldPages(0);
      const { one } = await running();
      const page = Answer.parse(await (await one.post('/screenshot', { url: pages.url() }, as('shop-key'))).json());
      expect(page.data.failed).toBe(false);
      expect(Object.keys(page.data.timings)[0]).toBe('dial');
      const dead = await one.post('/screenshot', { url: `http://127.0.0.1:${await freePort()}/` }, as('shop-key'));
      expect(dead.status).toBe(502);
      expect(Answer.parse(await dead.json())).toMatchObject({ code: 'target_unreachable', data: { failed: true } });
      if (apiNodes > 1) return;
      const { data } = Stats.parse(await (await one.call('/stats', as('shop-key'))).json());
      expect(data.dials).toMatchObject({ reached: 1, dead: { refused: 1 } });
    });

    it('delay no page of another key when they never answer', async () => {
      await using pages = await startHeldPages(0);
      await using silent = await startSilentListener(Array.from({ length: 40 }, (_, at) => `127.0.2.${at + 1}`));
      const { one } = await running();
      const requests = Array.from({ length: 400 }, (_, at) => ({
        url: `http://${silent.targets[at % silent.targets.length]}/${at}`,
        timeoutMs: 8_000,
      }));
      const client = new AbortController();
      let isOver = false;
      const batch = one
        .post('/batch', { requests }, { ...as('flood-key'), signal: client.signal })
        .catch(() => 'left')
        .finally(() => {
          isOver = true;
        });
      const answer = await one.post('/screenshot', { url: pages.url() }, as('shop-key'));
      expect(Answer.parse(await answer.json()).data.failed).toBe(false);
      expect(isOver).toBe(false);
      client.abort();
      await batch;
    });
  });
});
