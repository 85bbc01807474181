import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { listening } from '../egress/listening.ts';
import { scriptAsBrowser } from '../support/browser-script.ts';
import { siteForSuite } from '../support/for-suite.ts';
import { type Ground, ground, launch, type Served, serve } from './capstan-process.ts';

/** Asserts that a service has left its data, nothing temporary, and no browser. */
async function expectNothingLeft(place: Ground): Promise<void> {
  expect(await readdir(place.path)).toEqual(['data']);
  await expect.poll(() => place.browsers()).toEqual([]);
}

function capture(service: Served, url: string): Promise<Response> {
  return fetch(`${service.url}/screenshot`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ url }),
  });
}

describe('stopping capstan serve', () => {
  const site = siteForSuite();

  const start = (place: Ground, ...args: string[]) =>
    serve(['--allow-targets', '127.0.0.1', '--db-path', 'data/results.db', ...args], place.options);

  /** Resolves when the service has received its signal. */
  const stopping = (service: Served) =>
    expect.poll(async () => (await fetch(`${service.url}/readyz`)).text()).toContain('"shutting_down"');

  /** Resolves when the site receives the next request for a path: the capture is running then. */
  const asked = async (path: string, before = 0) => {
    await expect.poll(() => site.hits(path)).toBeGreaterThan(before);
  };

  it('refuses new captures with 503, lets a running capture finish, and leaves nothing behind', async () => {
    const place = await ground();
    const service = await start(place);
    const underWay = capture(service, site.url('/slow?ms=2000&finish'));
    await asked('/slow');
    expect(await place.browsers()).not.toEqual([]);
    service.child.kill('SIGTERM');
    await stopping(service);
    const late = await capture(service, site.url('/short'));
    expect({ status: late.status, body: await late.json() }).toMatchObject({
      status: 503,
      body: { success: false, code: 'shutting_down' },
    });
    expect((await underWay).status).toBe(200);
    expect(await service.ended).toMatchObject({ code: 0 });
    await expectNothingLeft(place);
  });

  it('stops at once while a start waits for a database', async () => {
    const place = await ground();
    const silent = createServer((socket) => void socket.resume());
    await using at = await listening(silent);
    const connected = once(silent, 'connection');
    const { child } = launch(['serve', '--mongo-url', `mongodb://127.0.0.1:${at.port}/capstan`], place.options);
    await connected;
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  it('cancels captures that are still running after the grace period', async () => {
    const place = await ground();
    const service = await start(place, '--grace-ms', '100');
    const underWay = capture(service, site.url('/hang'));
    await asked('/hang');
    service.child.kill('SIGTERM');
    const answer = await underWay;
    expect({ status: answer.status, body: await answer.json() }).toMatchObject({ body: { success: false } });
    expect(await service.ended).toMatchObject({ code: 0 });
    await expectNothingLeft(place);
  });

  it('treats a Ctrl-C that arrives twice, from the terminal and from npm, as one', async () => {
    const place = await ground();
    const service = await start(place);
    const underWay = capture(service, site.url('/slow?ms=1000&ctrl-c'));
    const before = site.hits('/slow');
    await asked('/slow', before);
    service.child.kill('SIGINT');
    service.child.kill('SIGINT');
    expect((await underWay).status).toBe(200);
    expect(await service.ended).toMatchObject({ code: 0 });
    await expectNothingLeft(place);
  });

  it('kills, at a second signal, a browser that hangs and ignores its closed pipe', async () => {
    const place = await ground();
    const service = await start(place, '--grace-ms', '600000');
    expect((await capture(service, site.url('/short'))).status).toBe(200);
    for (const pid of await browserPids(service)) process.kill(pid, 'SIGSTOP');
    const underWay = capture(service, site.url('/short'));
    underWay.catch(() => undefined);
    service.child.kill('SIGTERM');
    await stopping(service);
    service.child.kill('SIGTERM');
    expect(await service.ended).toMatchObject({ code: 1 });
    await expect.poll(async () => (await place.browsers()).length).toBe(0);
  });

  it('listens, and stops at once, while a browser hangs at its start', async () => {
    const place = await ground();
    const browser = await scriptAsBrowser('exec sleep 1000');
    const service = await start(place, '--browser-path', browser, '--sandbox', 'off');
    expect((await fetch(`${service.url}/livez`)).status).toBe(200);
    expect(await (await fetch(`${service.url}/readyz`)).json()).toMatchObject({ code: 'browser_unavailable' });
    service.child.kill('SIGTERM');
    const { code, stderr } = await service.ended;
    expect(code).toBe(0);
    // The stop did not wait for the time limit of the launch.
    expect(stderr).not.toContain('no browser could be started');
    await expect.poll(() => place.browsers()).toEqual([]);
  });

  it('serves on during --drain-delay-ms, unready for load balancers, until a second signal kills the browsers', async () => {
    const place = await ground();
    const service = await serve(['--allow-targets', '127.0.0.1', '--drain-delay-ms', '600000'], place.options);
    const capture = () =>
      fetch(`${service.url}/screenshot`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Connection: 'close' },
        body: JSON.stringify({ url: site.url('/short') }),
      });
    expect((await capture()).status).toBe(200);
    service.child.kill('SIGTERM');
    for (const path of ['/readyz', '/readyz/reads', '/readyz/any']) {
      await expect.poll(async () => (await fetch(service.url + path)).text()).toContain('"shutting_down"');
    }
    expect((await capture()).status).toBe(200);
    // Does not wait for the end of the delay.
    service.child.kill('SIGTERM');
    expect((await service.ended).code).toBe(1);
    await expect.poll(async () => (await place.browsers()).length).toBe(0);
  });
});

async function browserPids({ url }: Served): Promise<readonly number[]> {
  const { data } = stats.parse(await (await fetch(`${url}/stats`)).json());
  return data.pool.browsers.map(({ pid }) => pid);
}

const stats = z.object({ data: z.object({ pool: z.object({ browsers: z.array(z.object({ pid: z.number() })) }) }) });
