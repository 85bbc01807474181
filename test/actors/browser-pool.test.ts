import { rename } from 'node:fs/promises';
import { filter, firstValueFrom } from 'rxjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { BrowserPool } from '../../src/actors/browser-pool.ts';
import { MEMORY_BOUNDS } from '../../src/actors/checks/memory-watch.ts';
import { Launcher } from '../../src/actors/launching/launcher.ts';
import { configOf } from '../../src/config/mod.ts';
import { patience } from '../support/actor.ts';
import { browserStartedBy } from '../support/browser-script.ts';

/** A pool whose first browser runs, and whose executable can be taken away. */
async function poolOf(browsers: number) {
  const browserPath = await browserStartedBy((path) => `exec ${path} "$@"`);
  const warnings: string[] = [];
  const pool = new BrowserPool({
    launcher: new Launcher({ ...configOf({}, { cores: 1 }), browserPath }, () => {}),
    memory: MEMORY_BOUNDS,
    retireAfter: 1000,
    browsers,
    warn: (text) => warnings.push(text),
  });
  onTestFinished(() => pool.close());
  await pool.warmUp();
  return {
    pool,
    warnings,
    takeAway: () => rename(browserPath, `${browserPath}-away`),
    putBack: () => rename(`${browserPath}-away`, browserPath),
    serving: () => pool.browsers().filter(({ retiring }) => !retiring).length,
  };
}

describe('the browser pool', () => {
  it('leases the running browser while a second one cannot be launched, with one warning, and launches it later', async () => {
    const { pool, warnings, takeAway, putBack, serving } = await poolOf(2);
    await takeAway();
    // The second lease begins the launch of a second browser.
    for (const _ of [1, 2]) await pool.lease();
    await expect.poll(() => warnings).toEqual([expect.stringContaining('did not start')]);
    expect(pool.unavailable).toBeNull();
    for (const _ of [1, 2]) await pool.lease();
    expect(serving()).toBe(1);
    await putBack();
    await expect.poll(serving).toBe(2);
    expect(warnings).toHaveLength(1);
  });

  it('leases the running browser after the launch of one for a single capture failed, and launches no surplus one', async () => {
    const { pool, takeAway, putBack, serving } = await poolOf(1);
    await takeAway();
    await expect(pool.leaseAlone(patience)).rejects.toMatchObject({ code: 'browser_unavailable' });
    expect(pool.unavailable).toBeNull();
    (await pool.lease()).release();
    await putBack();
    const isLeasedAlone = () =>
      pool.leaseAlone(patience).then(
        (lease) => {
          lease.release();
          return true;
        },
        () => false,
      );
    await expect.poll(isLeasedAlone).toBe(true);
    expect([serving(), pool.counts.launches]).toEqual([1, 2]);
  });

  it('refuses leases at once while no browser runs and none can be launched, and launches one as soon as it can', async () => {
    const { pool, takeAway, putBack, serving } = await poolOf(1);
    await takeAway();
    const [browser] = pool.browsers();
    if (browser === undefined) throw new Error('the first browser runs');
    process.kill(browser.pid, 'SIGKILL');
    await expect.poll(() => pool.unavailable).not.toBeNull();
    await expect(pool.lease()).rejects.toMatchObject({ code: 'browser_unavailable' });
    await putBack();
    await expect.poll(serving).toBe(1);
    expect(pool.unavailable).toBeNull();
  });

  it('ends a browser that is no longer wanted when its launch ends', async () => {
    const { pool, serving } = await poolOf(2);
    for (const _ of [1, 2]) await pool.lease();
    const retired = firstValueFrom(pool.events$.pipe(filter(({ type }) => type === 'browser.retired')));
    pool.setBrowsers(1);
    expect(await retired).toMatchObject({ cause: 'surplus', captures: 0 });
    expect(serving()).toBe(1);
  });
});
