import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { PressureSchema } from '../../../src/capture/operation/pressure.ts';
import { blockFor } from '../../support/block-for.ts';
import { serviceForSuite, siteForSuite } from '../../support/for-suite.ts';
import { NO_BROWSER, type RunningService, startService } from '../../support/service.ts';
import { failureOf } from '../answers.ts';

const Answer = z.object({ success: z.literal(true), data: z.unknown() });

const site = siteForSuite();

async function pressureOf({ baseUrl }: RunningService): Promise<z.output<typeof PressureSchema>> {
  const response = await fetch(`${baseUrl}/pressure`);
  expect(response.status).toBe(200);
  return PressureSchema.parse(Answer.parse(await response.json()).data);
}

function send({ baseUrl }: RunningService, method: string, path: string, body: unknown, signal?: AbortSignal) {
  return fetch(baseUrl + path, {
    method,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });
}

describe('GET /pressure', () => {
  it('returns the load, and whether captures are accepted', async () => {
    const running = await startService({ maxConcurrent: 3, maxQueue: 7 });
    try {
      const pressure = await pressureOf(running);
      expect(Object.keys(pressure)).toEqual([
        'running',
        'queued',
        'maxConcurrent',
        'maxQueued',
        'cpu',
        'memory',
        'eventLoopDelayMs',
        'accepting',
        'reason',
        'cluster',
      ]);
      expect(pressure).toMatchObject({ running: 0, queued: 0, maxConcurrent: 3, maxQueued: 7, accepting: true });
      expect(pressure).toMatchObject({ reason: '', memory: expect.any(Number), cluster: null });
    } finally {
      await running.stop();
    }
  });

  it('returns accepting: false and the reason when there is no browser and during a stop', async () => {
    const running = await startService(NO_BROWSER);
    try {
      expect(await pressureOf(running)).toMatchObject({ accepting: false, reason: expect.stringMatching(/chromium/i) });
      await running.service.stop();
      expect(await pressureOf(running)).toMatchObject({ accepting: false, reason: expect.stringMatching(/shutting/) });
    } finally {
      await running.stop();
    }
  });
});

describe('an overloaded service', () => {
  /** Waits for the state, and not for its event, which may come before anybody listens. */
  const expectAccepting = (running: RunningService, accepting: boolean) =>
    expect.poll(async () => (await pressureOf(running)).accepting).toBe(accepting);

  it('refuses new captures for lack of memory, with the reason and Retry-After', async () => {
    const running = await startService({ maxMemoryMb: 1 });
    try {
      await expectAccepting(running, false);
      expect(await pressureOf(running)).toMatchObject({ reason: expect.stringContaining('MiB of memory') });
      const refused = await send(running, 'POST', '/screenshot', { url: site.url('/short') });
      expect(refused.status).toBe(429);
      expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(1);
      expect(await failureOf(refused)).toMatchObject({
        code: 'queue_full',
        error: expect.stringContaining('refused above 1 MiB)'),
      });
      expect((await fetch(`${running.baseUrl}/results`)).status).toBe(200);
    } finally {
      await running.stop();
    }
  });

  it('refuses new captures while the event loop is blocked, and finishes admitted ones', async () => {
    const running = await startService({ maxLoopDelayMs: 1000 });
    try {
      const inside = send(running, 'POST', '/screenshot', { url: site.url('/slow?ms=1000') });
      await expect.poll(() => site.hits('/slow')).toBe(1);
      // A busy machine may have blocked it before, and a slow start of the browser is announced as refusal and its end.
      await expect.poll(() => running.service.pressure().accepting).toBe(true);
      const refusing = running.next('pressure.changed', ({ accepting }) => !accepting);
      const blocking = setInterval(() => blockFor(1300));
      try {
        expect(await refusing).toMatchObject({ accepting: false, reason: expect.stringContaining('event loop') });
        expect((await send(running, 'POST', '/screenshot', { url: site.url('/short') })).status).toBe(429);
      } finally {
        clearInterval(blocking);
      }
      expect((await inside).status).toBe(200);
      await expectAccepting(running, true);
      expect((await send(running, 'POST', '/screenshot', { url: site.url('/short') })).status).toBe(200);
    } finally {
      await running.stop();
    }
  });
});

describe('PATCH /limits', () => {
  const running = serviceForSuite({ maxConcurrent: 1, maxQueue: 2 });
  const patch = (body: unknown) => send(running, 'PATCH', '/limits', body);
  const queue = () => running.service.stats().queue;

  it('starts queued captures when limits are raised, and loses none when they are lowered', async () => {
    const leaving = new AbortController();
    const hang = () =>
      send(running, 'POST', '/screenshot', { url: site.url('/hang') }, leaving.signal).catch(() => null);
    const captures = [hang(), hang(), hang()];
    await expect.poll(queue).toMatchObject({ running: 1, queued: 2 });

    const raised = await patch({ maxConcurrent: 2 });
    expect(Answer.parse(await raised.json()).data).toEqual({ maxConcurrent: 2, maxQueue: 2 });
    await expect.poll(() => site.hits('/hang')).toBe(2);
    expect(queue()).toEqual({ running: 2, queued: 1, max_concurrent: 2, max_queue: 2 });

    const lowered = await patch({ maxConcurrent: 1, maxQueue: 0 });
    expect(Answer.parse(await lowered.json()).data).toEqual({ maxConcurrent: 1, maxQueue: 0 });
    expect((await send(running, 'POST', '/screenshot', { url: site.url('/short') })).status).toBe(429);
    expect(await pressureOf(running)).toMatchObject({
      running: 2,
      queued: 1,
      maxConcurrent: 1,
      maxQueued: 0,
      accepting: false,
      reason: 'The queue is full: 3 captures are admitted, the maximum is 1.',
    });

    leaving.abort();
    await Promise.all(captures);
    await expect.poll(queue).toMatchObject({ running: 0, queued: 0 });
    expect(running.service.stats().captures).toMatchObject({ accepted: 3, cancelled: 3 });
    await patch({ maxConcurrent: 1, maxQueue: 2 });
  });

  it.each([
    [{}, ''],
    [[], ''],
    [null, ''],
    [{ maxConcurrent: 0 }, 'maxConcurrent'],
    [{ maxConcurrent: 1001 }, 'maxConcurrent'],
    [{ maxConcurrent: 1.5, maxQueue: 3 }, 'maxConcurrent'],
    [{ maxQueue: -1 }, 'maxQueue'],
    [{ maxQueue: '5' }, 'maxQueue'],
    [{ maxQueue: null }, 'maxQueue'],
    [{ maxQueue: 5, maxBatch: 5 }, 'maxBatch'],
  ])('refuses %j and changes nothing', async (body, path) => {
    const response = await patch(body);
    expect(response.status).toBe(400);
    expect(await failureOf(response)).toMatchObject({ code: 'invalid_request', data: { problems: [{ path }] } });
    expect(queue()).toMatchObject({ max_concurrent: 1, max_queue: 2 });
  });
});
