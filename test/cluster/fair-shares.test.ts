import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { limitsOfWorkers, shareOfSingles, shareOfTickets } from '../../src/cluster/shares.ts';
import type { RunningService } from '../support/service.ts';
import { serversForSuite, whyNoCluster } from './cluster-of-processes.ts';
import { startHeldPages } from './held-pages.ts';
import { nodesOf } from './nodes.ts';

const whyNot = await whyNoCluster();
const reason = whyNot === undefined ? '' : ` (skipped: ${whyNot})`;

describe('the shares of an api node', () => {
  const limits = { maxConcurrent: 4, maxQueue: 16 };
  const idle = { singles: 0, items: 0 };

  it('leave all places to single captures while no node has items of batches', () => {
    expect(shareOfSingles(limits, idle, [])).toBe(20);
    expect(shareOfSingles(limits, { singles: 12, items: 0 }, [{ singles: 8, items: 0 }])).toBe(20);
  });

  it('are of what the workers can run, and leave out what other nodes have where the stream stores more', () => {
    const ofWorkers = limitsOfWorkers(limits, 2);
    expect(ofWorkers).toEqual({ maxConcurrent: 2, maxQueue: 16 });
    expect(shareOfSingles(ofWorkers, { singles: 12, items: 0 }, [{ singles: 8, items: 0 }], 20)).toBe(10);
    expect(limitsOfWorkers(limits, 9)).toEqual(limits);
    expect(limitsOfWorkers(limits, 0)).toEqual(limits);
  });

  it('reserves a place for each item, at most half of all', () => {
    expect(shareOfSingles(limits, { singles: 0, items: 3 }, [])).toBe(17);
    expect(shareOfSingles(limits, idle, [{ singles: 0, items: 300 }])).toBe(10);
  });

  it('divide the places equally among the nodes that need them, and give each the places that others leave', () => {
    const busy = { singles: 9, items: 300 };
    expect(shareOfSingles(limits, idle, [busy, busy])).toBe(3);
    expect(shareOfSingles(limits, idle, [{ singles: 2, items: 300 }])).toBe(8);
    expect(shareOfTickets(limits, 4, [busy, idle])).toBe(4);
    expect(shareOfTickets(limits, 4, [{ singles: 0, items: 1 }])).toBe(7);
    expect(shareOfTickets(limits, 4, [{ singles: 1, items: 2 }])).toBe(5);
  });

  it('are two tickets for each slot, and eight while there is no worker', () => {
    const wide = { maxConcurrent: 1000, maxQueue: 1000 };
    expect(shareOfTickets(limitsOfWorkers(wide, 1), 1, [])).toBe(2);
    expect(shareOfTickets(limitsOfWorkers(wide, 16), 16, [])).toBe(32);
    expect(shareOfTickets(limitsOfWorkers(wide, 0), 0, [])).toBe(8);
  });

  it('are at least one ticket and one place', () => {
    const crowd = Array.from({ length: 31 }, () => ({ singles: 1, items: 9 }));
    expect(shareOfTickets(limits, 4, crowd)).toBe(1);
    expect(shareOfSingles(limits, idle, crowd)).toBe(1);
  });
});

describe.skipIf(whyNot !== undefined)(`a cluster whose queue is full${reason}`, () => {
  const servers = serversForSuite();

  it('refuses no item of a batch while other api nodes have more single captures than places, and serves both', async () => {
    await using pages = await startHeldPages(0);
    await using nodes = await nodesOf(servers, 'shares', { clusterMaxConcurrent: 3, maxQueue: 5 });
    const [one, two, three] = await Promise.all([nodes.api(), nodes.api(), nodes.api()]);
    const singles = { stored: 0, refusal: '' };
    let isDone = false;
    const capture = async (api: RunningService): Promise<void> => {
      while (!isDone) {
        const answer = await api.post('/screenshot', { url: pages.url() });
        const { error } = JSON.parse(await answer.text());
        expect([200, 429]).toContain(answer.status);
        if (answer.status === 200) singles.stored += 1;
        else {
          singles.refusal = error;
          // A client that asks again at once would take the processor from the others.
          await delay(50);
        }
      }
    };
    // Together, they have more clients than the queue has places.
    const clients = [two, three].flatMap((api) => Array.from({ length: 6 }, () => capture(api)));
    await expect.poll(() => singles.refusal).toContain('8 captures may be admitted');
    const batch = one.post('/batch', { requests: Array.from({ length: 9 }, () => ({ url: pages.url() })) });
    await expect.poll(() => singles.refusal).toMatch(/shared with batches: \d of 8 captures/);
    await nodes.worker({ maxConcurrent: 3 });
    const items: { readonly code: string | null }[] = JSON.parse(await (await batch).text());
    expect(items.map(({ code }) => code)).toEqual(Array(9).fill(null));
    // More than the queue held when the worker started.
    expect(singles.stored).toBeGreaterThan(8);
    isDone = true;
    await Promise.all(clients);
  });
});
