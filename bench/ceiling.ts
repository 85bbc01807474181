import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { launchFlags } from '../src/actors/launching/launch-flags.ts';
import { CdpConnection } from '../src/cdp/connection.ts';
import { type Driver, type DriverOptions, sandboxFlags, VIEWPORT } from './support/driver.ts';

/*
 * The ceiling: the minimum work that Chromium needs for an isolated screenshot and HTML snapshot of a page. It has no
 * deadlines, retries, waits for a page to settle, or store, so any real service is slower.
 */

export async function open({ browserPath }: DriverOptions): Promise<Driver> {
  const profile = await mkdtemp(join(tmpdir(), 'capstan-bench-'));
  // Those of the service, without the proxy.
  const flags = launchFlags({ profileDir: profile, sandbox: sandboxFlags().length === 0, honest: true }).filter(
    (flag) => !/^--(?:proxy|host-resolver)/.test(flag),
  );
  const browser = spawn(browserPath, [...flags, '--ignore-certificate-errors'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
  });
  const connection = new CdpConnection(browser.stdio[3] as Writable, browser.stdio[4] as Readable);
  const { root } = connection;
  const attached = new Map<string, (sessionId: string) => void>();
  root.on('Target.attachedToTarget', ({ targetInfo, sessionId }) =>
    attached.get(targetInfo.browserContextId ?? '')?.(sessionId),
  );
  await root.send('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: true, flatten: true });

  const capture = async (url: string) => {
    const { browserContextId } = await root.send('Target.createBrowserContext', { disposeOnDetach: true });
    const attaching = new Promise<string>((resolve) => attached.set(browserContextId, resolve));
    const created = root.send('Target.createTarget', { url: 'about:blank', browserContextId, ...VIEWPORT });
    const page = connection.session(await attaching);
    attached.delete(browserContextId);
    // The load event may arrive before the answer to the navigation, and the blank page fires one too.
    const loadedBy = new Set<string>();
    let whenLoaded = (_loaderId: string) => {};
    page.on('Page.lifecycleEvent', ({ name, loaderId }) => {
      if (name !== 'load') return;
      loadedBy.add(loaderId);
      whenLoaded(loaderId);
    });
    await Promise.all([
      created,
      page.send('Page.enable'),
      page.send('Page.setLifecycleEventsEnabled', { enabled: true }),
      page.send('Runtime.runIfWaitingForDebugger'),
    ]);
    const { loaderId = '' } = await page.send('Page.navigate', { url });
    await new Promise<void>((resolve) => {
      whenLoaded = (loadedId) => loadedId === loaderId && resolve();
      if (loadedBy.has(loaderId)) resolve();
    });
    const [image] = await Promise.all([
      page.shoot({ format: 'png', optimizeForSpeed: true }),
      page.send('Runtime.evaluate', { expression: 'document.documentElement.outerHTML', returnByValue: true }),
    ]);
    await root.send('Target.disposeBrowserContext', { browserContextId });
    return image;
  };

  return {
    capture,
    close: async () => {
      const gone = once(browser, 'exit');
      root.post('Browser.close');
      await gone;
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
