import { once } from 'node:events';
import { chown, readdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lineOf } from '../commands/capstan-process.ts';
import { freePort } from '../support/free-port.ts';
import { pixelsOf } from '../support/image.ts';
import { makeDirectory } from '../support/temporary-directory.ts';
import { buildImage, podman, processesOf, runContainer, whyNoContainers } from './podman.ts';

const IMAGE = `localhost/capstan-test-${process.pid}`;
const NAME = `capstan-test-${process.pid}`;
const USER = 10_001;
const MEMORY_BYTES = 1024 ** 3;
const BUILD_MS = 600_000;
const MAX_IMAGE_BYTES = 700_000_000;
const PAGE = '<!doctype html><meta charset="utf-8"><body style="font:64px sans-serif">日本語 🥰🍣</body>';

const missing = await whyNoContainers();

/** A page with Japanese and emoji, and one that never ends. */
const site = createServer((request, response) => {
  response.setHeader('Content-Type', 'text/html; charset=utf-8');
  if (request.url === '/endless') response.write(PAGE);
  else response.end(PAGE);
});
let data: string;
let baseUrl: string;

beforeAll(async () => {
  if (missing !== undefined) return;
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  data = await makeDirectory();
  await chown(data, USER, USER);
  await buildImage(IMAGE);
  const child = runContainer([
    ...['--name', NAME],
    // As in docs/operations.md, except for the host's network, over which the container reaches the test's page.
    ...['--read-only', '--tmpfs', '/tmp', '--cap-drop', 'all', '--security-opt', 'no-new-privileges'],
    ...['--security-opt', 'seccomp=container/seccomp.json', '--memory', String(MEMORY_BYTES)],
    ...['--network', 'host', '--volume', `${data}:/data`],
    ...['--env', 'CAPSTAN_HOST=127.0.0.1', '--env', `CAPSTAN_PORT=${await freePort()}`],
    ...[IMAGE, 'serve', '--sandbox', 'on', '--allow-targets', '127.0.0.1'],
  ]);
  const ended = once(child, 'close').then(([code]) => Promise.reject(new Error(`the container ended with ${code}`)));
  baseUrl = await Promise.race([lineOf(child.stdout, /^capstan listening on (http:\S+)\n/m), ended]);
  ended.catch(() => undefined);
}, BUILD_MS);

afterAll(async () => {
  if (missing !== undefined) return;
  await podman('rm', '--force', '--time', '1', NAME).catch(() => '');
  await podman('rmi', '--force', IMAGE).catch(() => '');
  await podman('image', 'prune', '--force').catch(() => '');
  site.closeAllConnections();
  site.close();
});

function pageUrl(path: string): string {
  const address = site.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}${path}`;
}

function capture(body: object, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${baseUrl}/screenshot`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

async function mainPid(): Promise<number> {
  return Number(await podman('inspect', '--format', '{{.State.Pid}}', NAME));
}

describe.skipIf(missing)('the container, read-only, without root, capabilities or new privileges', () => {
  it('meets every requirement of the service within its limits', async () => {
    const report = JSON.parse(
      await podman('exec', NAME, 'node', '/app/bin/capstan.js', 'doctor', '--json', '--sandbox', 'on', '--port', '0'),
    );
    const by = Object.fromEntries(report.findings.map((each: { check: string }) => [each.check, each]));
    expect(by).toMatchObject({
      browser: { state: 'ok' },
      sandbox: { state: 'ok', found: 'on' },
      fonts: { state: 'ok', found: 'one for every common script' },
      memory: { found: expect.stringMatching(/ of 1\.0 GiB available$/) },
    });
    expect(report.serves).toBe(true);
  });

  it('makes an image smaller than 700 MB', async () => {
    const bytes = Number(await podman('image', 'inspect', '--format', '{{.Size}}', IMAGE));
    expect(bytes).toBeGreaterThan(100_000_000);
    expect(bytes).toBeLessThan(MAX_IMAGE_BYTES);
  });

  it('passes its health check', async () => {
    // Rejects when the check fails.
    await podman('healthcheck', 'run', NAME);
    expect(await podman('inspect', '--format', '{{.State.Health.Status}}', NAME)).toBe('healthy');
  });

  it('captures a page with Japanese and emoji', async () => {
    const response = await capture(
      { url: pageUrl('/'), viewport: { width: 640, height: 200 } },
      { Accept: 'image/png' },
    );
    expect(response.status).toBe(200);
    const { data: pixels } = await pixelsOf(await response.bytes());
    let dark = 0;
    let colourful = 0;
    for (let at = 0; at < pixels.length; at += 4) {
      const [red = 0, green = 0, blue = 0] = pixels.subarray(at, at + 3);
      if (Math.max(red, green, blue) < 64) dark += 1;
      if (Math.max(red, green, blue) - Math.min(red, green, blue) > 96) colourful += 1;
    }
    // The letters are black and the emoji coloured; the boxes of missing glyphs would have no colour.
    expect(dark).toBeGreaterThan(1000);
    expect(colourful).toBeGreaterThan(1000);
  });

  it('serves the web interface', async () => {
    const response = await fetch(`${baseUrl}/ui/`, { headers: { Accept: 'text/html' } });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toContain('text/html');
  });

  it('runs renderers in the sandbox of Chromium, in namespaces of their own', async () => {
    const leaving = new AbortController();
    const hanging = fetch(`${baseUrl}/screenshot`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ url: pageUrl('/endless'), timeoutMs: 60_000 }),
      signal: leaving.signal,
    }).catch(() => undefined);
    const main = await mainPid();
    await expect.poll(async () => (await processesOf(main)).filter(isRenderer).length).toBeGreaterThan(0);
    const family = await processesOf(main);
    const service = family.find(({ command }) => command.includes('/app/bin/capstan.js serve'));
    for (const { status } of family) {
      expect(status).toMatchObject({ NoNewPrivs: '1', Seccomp: '2' });
      expect(status.Uid?.split('\t')).toContain(String(USER));
    }
    expect(service?.status.CapEff).toBe('0000000000000000');
    for (const { namespaces, status } of family.filter(isRenderer)) {
      expect(namespaces.user).not.toBe(service?.namespaces.user);
      expect(namespaces.pid).not.toBe(service?.namespaces.pid);
      expect(namespaces.net).not.toBe(service?.namespaces.net);
      // The container's filter, and Chromium's own in addition.
      expect(Number(status.Seccomp_filters)).toBeGreaterThan(Number(service?.status.Seccomp_filters));
    }
    leaving.abort();
    await hanging;
  });

  it('stops on SIGTERM, and leaves no process and no temporary file behind', async () => {
    const before = await processesOf(await mainPid());
    expect(before.length).toBeGreaterThan(3);
    await podman('kill', '--signal', 'TERM', NAME);
    expect(await podman('wait', NAME)).toBe('0');
    expect(await podman('inspect', '--format', '{{.State.OOMKilled}}', NAME)).toBe('false');
    const alive = await Promise.all(before.map(({ pid }) => processesOf(pid)));
    expect(alive.flat().filter(({ command }) => /capstan|chromium/.test(command))).toEqual([]);
    const left = await readdir(data, { recursive: true });
    expect(left.filter((name) => /^(thumbnails|workspaces)\/.|-wal$|-shm$/.test(name))).toEqual([]);
    expect(left).toEqual(expect.arrayContaining(['results.db', 'store.json']));
  });
});

function isRenderer({ command }: { readonly command: string }): boolean {
  return command.includes('--type=renderer');
}
