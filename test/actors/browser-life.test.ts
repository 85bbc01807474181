import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { browserEnvironment } from '../../src/actors/launching/browser-environment.ts';
import { executableFinder } from '../../src/actors/launching/executable.ts';
import { sweepProfiles } from '../../src/actors/launching/profiles.ts';
import { CdpSession } from '../../src/cdp/connection.ts';
import { patience, pidOf, type RunningActor } from '../support/actor.ts';
import { actorPerTest } from '../support/actor-per-test.ts';
import { blockFor } from '../support/block-for.ts';
import { scriptAsBrowser, writeScript } from '../support/browser-script.ts';
import { captureRequest } from '../support/capture-request.ts';
import { siteForSuite } from '../support/for-suite.ts';
import { makeDirectory } from '../support/temporary-directory.ts';

describe('browser lifecycle', () => {
  const site = siteForSuite();
  const start = actorPerTest();

  it('retries captures once and replaces the browser when the browser is killed', async () => {
    const started = await start();
    const { actor, events, next } = started;
    const pid = pidOf(started);
    const slow = actor.capture(captureRequest(site.url('/slow?ms=1500')), patience);
    await expect.poll(() => site.hits('/slow')).toBe(1);
    const replaced = next('browser.launched');
    process.kill(pid, 'SIGKILL');
    expect((await slow).title).toBe('A slow page');
    expect(site.hits('/slow')).toBe(2);
    await replaced;
    // The third launch is that of the browser in which the capture was repeated alone.
    await expect.poll(() => actor.stats()).toMatchObject({ crashes: 1, launches: 3, browsers: [{}] });
    expect(events.at(0)).toMatchObject({ type: 'browser.launched' });
    expect(events.at(1)).toMatchObject({ type: 'browser.crashed' });
    // Only the profile of the running browser is left.
    await expect.poll(profiles).toHaveLength(1);
  });

  it('kills a browser that hangs and retries its captures on the next one', async () => {
    const started = await start();
    const pid = pidOf(started);
    process.kill(pid, 'SIGSTOP');
    const snapshot = await started.actor.capture(captureRequest(site.url('/short'), { timeoutMs: 28_000 }), patience);
    expect(snapshot.responseCode).toBe(200);
    const crashed = started.events.find((event) => event.type === 'browser.crashed');
    expect(crashed).toMatchObject({ reason: 'it hung: no answer within 8000 ms, so it was killed' });
    expect(isAlive(pid)).toBe(false);
  });

  it('retries a capture once, in a browser of its own, when its page crashes, then fails with page_crashed', async () => {
    const started = await start();
    const failing = started.actor
      .capture(captureRequest(site.url('/slow-image?ms=60000&crash')), patience)
      .catch((error: unknown) => error);
    for (const visit of [1, 2]) {
      await expect.poll(() => site.hits('/image.png')).toBe(visit);
      await expect.poll(() => killRenderers(started)).toBeGreaterThan(0);
    }
    expect(await failing).toMatchObject({ code: 'page_crashed' });
    const next = await started.actor.capture(captureRequest(site.url('/short')), patience);
    expect(next.responseCode).toBe(200);
    expect(started.actor.stats().crashes).toBe(0);
  });

  // While Chromium read the picture, 20 to 40 ms after it was asked for, such a crash ended the whole browser.
  it('keeps the browser when a page crashes during its screenshot', async () => {
    const started = await start();
    const shoot = vi.spyOn(CdpSession.prototype, 'shoot');
    onTestFinished(() => shoot.mockRestore());
    const request = captureRequest(site.url('/short'), { viewport: { width: 1280, height: 2400 } });
    for (const ms of [20, 24, 28, 32, 36, 40, 44]) {
      shoot.mockClear();
      const capturing = started.actor.capture(request, patience);
      await expect.poll(() => shoot.mock.calls, { interval: 5 }).not.toEqual([]);
      await delay(ms);
      killRenderers(started);
      // The service is busy, and does not close the page at once.
      blockFor(200);
      expect((await capturing).responseCode).toBe(200);
    }
    expect(started.actor.stats().crashes).toBe(0);
  });

  it('fails with page_crashed and frees the slot when pages crash while they are opened', async () => {
    const { browserPath, runPagesWith } = await browserWithPagesOf('exit 1');
    const { actor } = await start({ browserPath });
    const failing = actor.capture(captureRequest(site.url('/short')), patience).catch((error: unknown) => error);
    expect(await failing).toMatchObject({ code: 'page_crashed' });
    await expect.poll(() => actor.stats().busy).toBe(0);
    await runPagesWith('exec "$@"');
    expect((await actor.capture(captureRequest(site.url('/short')), patience)).responseCode).toBe(200);
  });

  it('frees the slot when a page does not open in time', async () => {
    const { browserPath } = await browserWithPagesOf('exec sleep 600');
    const { actor } = await start({ browserPath });
    const request = captureRequest(site.url('/short'), { timeoutMs: 1000 });
    expect(await actor.capture(request, patience).catch((error: unknown) => error)).toMatchObject({
      code: 'capture_timeout',
      message: expect.stringContaining('open a page'),
    });
    await expect.poll(() => actor.stats().busy).toBe(0);
  });

  it('retires a browser after its maximum number of captures, without delaying or failing a capture', async () => {
    const { actor, events } = await start({ retireAfter: 3 });
    const pages = Array.from({ length: 8 }, () => actor.capture(captureRequest(site.url('/title?t=x')), patience));
    expect((await Promise.all(pages)).every((page) => page.title === 'x')).toBe(true);
    await expect.poll(() => events.filter((event) => event.type === 'browser.retired').length).toBeGreaterThan(0);
    expect(events.filter((event) => event.type === 'browser.crashed')).toEqual([]);
  });

  it('reports a retiring browser that is killed as crashed, and retries its captures', async () => {
    const started = await start({ retireAfter: 1, maxConcurrent: 2 });
    const { actor, events } = started;
    const slow = actor.capture(captureRequest(site.url('/slow?ms=8000')), patience);
    await expect.poll(() => site.hits('/slow')).toBeGreaterThan(0);
    const pid = pidOf(started);
    await actor.capture(captureRequest(site.url('/short')), patience);
    await expect.poll(() => actor.stats().browsers).toContainEqual({ pid, captures: 1, retiring: true });
    process.kill(pid, 'SIGKILL');
    expect((await slow).title).toBe('A slow page');
    const endings = () => events.filter((event) => event.pid === pid && event.type !== 'browser.launched');
    await expect.poll(endings).toMatchObject([{ type: 'browser.crashed', cause: 'crash' }]);
    expect(actor.stats().crashes).toBe(1);
  });

  it('reports at once that no browser can be launched, and launches one as soon as its executable exists', async () => {
    const path = join(await makeDirectory(), 'chromium');
    const { actor, next } = await start({ browserPath: path });
    expect(actor.unavailable).toMatchObject({ detail: expect.stringContaining(path) });
    const refused = await actor.capture(captureRequest(site.url('/short')), patience).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'browser_unavailable' });
    // Paths of the machine are shown only to the operator.
    expect(String(refused)).not.toContain(path);

    const launched = next('browser.launched');
    const real = await executableFinder(undefined)();
    if ('missing' in real) throw new Error(real.missing);
    await symlink(real.path, path);
    await launched;
    expect(actor.unavailable).toBeNull();
    expect((await actor.capture(captureRequest(site.url('/short')), patience)).responseCode).toBe(200);
  });

  it('reports the error output of a browser that exits at its start', async () => {
    const { actor } = await start({ browserPath: await scriptAsBrowser('echo "no such display" >&2\nexit 3') });
    expect(actor.unavailable).toEqual({
      reason: 'Chromium did not start: the log of the service has the cause',
      detail: expect.stringContaining('no such display'),
    });
  });

  it('does not use a browser that sends invalid messages, and keeps the service running', async () => {
    const path = await scriptAsBrowser('printf "nonsense\\0" >&4\nsleep 1000');
    const { actor } = await start({ browserPath: path });
    expect(actor.unavailable).toMatchObject({ detail: expect.stringContaining(path) });
  });

  it('leaves no process and no profile directory when the actor is closed during captures', async () => {
    const started = await start();
    const pid = pidOf(started);
    const captures = [captureRequest(site.url('/hang')), captureRequest(site.url('/short'))].map((request) =>
      started.actor.capture(request, patience).catch((error: unknown) => error),
    );
    await started.stop();
    expect(await captures[0]).toMatchObject({ code: 'cancelled' });
    await Promise.all(captures);
    expect(isAlive(pid)).toBe(false);
    expect(profiles()).toEqual([]);
  });

  it('removes the profiles of a service that was killed', async () => {
    const orphan = await mkdtemp(join(tmpdir(), 'capstan-profile-999999999-'));
    await start();
    expect(existsSync(orphan)).toBe(false);
  });

  it('removes the profiles of an earlier service with the same process id', async () => {
    const orphan = await mkdtemp(join(tmpdir(), `capstan-profile-${process.pid}-1-`));
    const own = await start();
    expect(existsSync(orphan)).toBe(false);
    expect(profiles()).toHaveLength(1);
    // A second start leaves the profile of a running browser alone.
    await sweepProfiles();
    expect(profiles()).toHaveLength(1);
    expect(existsSync(`/proc/${pidOf(own)}`)).toBe(true);
  });

  it('kills a browser that does not answer at its start as soon as the actor is closed', async () => {
    const folder = await makeDirectory();
    const pidFile = join(folder, 'pid');
    const path = join(folder, 'script');
    await writeScript(path, `echo $$ > ${pidFile}\nexec sleep 1000`);
    await chmod(folder, 0o777);
    const starting = start({ browserPath: path, sandbox: 'off' }, { wait: false });
    const { actor, stop, warnings } = await starting;
    await expect.poll(() => (existsSync(pidFile) ? readFileSync(pidFile, 'utf8') : '')).not.toBe('');
    await stop();
    // The browser was killed, and its start did not time out.
    expect(actor.unavailable).toBeNull();
    expect(warnings).toEqual([]);
    // The system reaps the process a moment later.
    await expect.poll(() => isAlive(Number(readFileSync(pidFile, 'utf8')))).toBe(false);
    expect(profiles()).toEqual([]);
  });

  it('passes only the environment variables that a browser needs', async () => {
    const secrets = ['CAPSTAN_API_KEY', 'AWS_SECRET_ACCESS_KEY', 'DATABASE_URL', 'HTTPS_PROXY', 'LC_NUMERIC'];
    for (const name of secrets) vi.stubEnv(name, 'a-secret');
    onTestFinished(() => void vi.unstubAllEnvs());
    const started = await start();
    const environment = readProc(pidOf(started), 'environ')
      .split('\0')
      .filter((line) => line !== '')
      .map((line) => line.slice(0, line.indexOf('=')));
    expect(environment).toEqual(expect.arrayContaining(['PATH', 'LANG', 'TZ', 'TMPDIR']));
    for (const name of secrets) expect(environment).not.toContain(name);
    // Other variables are set only by the browser and by the commands that start it.
    const listed = Object.keys(browserEnvironment(process.env, '/tmp'));
    const unknown = environment.filter(
      (name) => !listed.includes(name) && !/^(CHROME_|HOME$|_$|PWD$|SHLVL$|OLDPWD$)/.test(name),
    );
    expect(unknown).toEqual([]);
  });
});

/** Wraps the browser so that a shell script starts its renderers. The script receives the renderer's command line. */
async function browserWithPagesOf(script: string) {
  const real = await executableFinder(undefined)();
  if ('missing' in real) throw new Error(real.missing);
  const folder = await makeDirectory();
  const [browserPath, pages] = [join(folder, 'browser'), join(folder, 'pages')];
  await writeScript(browserPath, `exec "${real.path}" "$@" --renderer-cmd-prefix="${pages}"`);
  await writeScript(pages, script);
  return { browserPath, runPagesWith: (other: string) => writeScript(pages, other) };
}

/** Returns the profile directories of this process. */
function profiles(): string[] {
  return readdirSync(tmpdir()).filter((name) => name.startsWith(`capstan-profile-${process.pid}-`));
}

function isAlive(pid: number): boolean {
  return existsSync(`/proc/${pid}`);
}

/** Kills the browsers' renderers, which may be children of zygotes, and returns their number. */
function killRenderers({ actor }: RunningActor): number {
  const groups = actor.stats().browsers.map(({ pid }) => groupOf(pid));
  const renderers = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => groups.includes(groupOf(pid)) && commandOf(pid).includes('--type=renderer'));
  for (const pid of renderers) process.kill(pid, 'SIGKILL');
  return renderers.length;
}

function groupOf(pid: number): string | undefined {
  return readProc(pid, 'stat').split(') ').at(-1)?.split(' ')[2];
}

function commandOf(pid: number): string {
  return readProc(pid, 'cmdline');
}

function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}
