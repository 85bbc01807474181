import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { startHeldPages } from '../cluster/held-pages.ts';
import { freePort } from '../support/free-port.ts';
import { startNameServer } from '../support/name-server.ts';
import { type RunningService, startService } from '../support/service.ts';
import { startSilentListener } from '../support/silent-listener.ts';

const Answer = z.object({
  code: z.string(),
  error: z.string(),
  data: z.looseObject({ id: z.number(), failed: z.boolean() }).optional(),
});

/** Deadline of captures of targets that never answer, in milliseconds: shorter than the time limit for a connection. */
const SILENT_MS = 8_000;

/** Without times and ids, which differ between runs. */
function withoutChance<T>(value: T): T {
  const text = JSON.stringify(value, (name, inner) =>
    ['id', 'probed_at', 'duration_ms', 'request_id'].includes(name) ? undefined : inner,
  );
  return JSON.parse(text);
}

describe('targets that cannot be reached', () => {
  it('end with the same answers, records and events as in a browser, and without waiting for a slot', async () => {
    await using nameServer = await startNameServer(() => 'none');
    await using silent = await startSilentListener();
    await using held = await startHeldPages(Number.POSITIVE_INFINITY);
    const closed = await freePort();
    const isSilent = (url: string) => silent.targets.some((target) => url.includes(target));
    const urls = [
      `http://127.0.0.1:${closed}/`,
      `https://127.0.0.1:${closed}/`,
      `127.0.0.1:${closed}`,
      'http://nobody.test/',
      'nobody.test',
      `http://${silent.targets[0]}/`,
      silent.targets[0],
      'http://127.0.0.2/',
      'https://127.0.0.1:22/',
    ];
    const outcomes = async (maxDials: number, occupy: (running: RunningService) => Promise<void>) => {
      const running = await startService({ maxConcurrent: 1, maxDials, nameServers: [nameServer.address] });
      await occupy(running);
      const events: unknown[] = [];
      running.service.events$.subscribe((event) => 'url' in event && events.push([event.url, event.type]));
      try {
        const ended = [];
        for (const url of urls) {
          const response = await running.post('/screenshot', { url, ...(isSilent(url) && { timeoutMs: SILENT_MS }) });
          const answer = Answer.parse(await response.json());
          const record = answer.data && (await running.service.results.get(answer.data.id));
          ended.push({ status: response.status, answer, record });
        }
        return withoutChance({ ended, events });
      } finally {
        await running.stop();
      }
    };
    // Side by side, because they mostly wait for deadlines.
    const [inBrowser, dialled] = await Promise.all([
      outcomes(0, async () => {}),
      outcomes(256, async (running) => {
        running.post('/screenshot', { url: held.url(), timeoutMs: 120_000 }).catch(() => {});
        await expect.poll(() => held.waiting).toBe(1);
      }),
    ]);
    expect(inBrowser.ended.map(({ answer }) => answer.error)).toEqual([
      `connection refused by 127.0.0.1:${closed}`,
      `connection refused by 127.0.0.1:${closed}`,
      `connection refused by 127.0.0.1:${closed}; over http: connection refused by 127.0.0.1:${closed}`,
      'no such name: nobody.test',
      'no such name: nobody.test; over http: no such name: nobody.test',
      'nothing could be captured within 8000 ms (open the URL)',
      'nothing could be captured within 8000 ms (open the URL over http)',
      '127.0.0.2 is not public (loopback); to allow it, set --allow-targets',
      'port 22 (ssh) is not allowed: browsers refuse to open it',
    ]);
    expect(dialled).toEqual(inBrowser);
  });
});
