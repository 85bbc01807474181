import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import type { Protocol } from 'devtools-protocol';
import type { ProtocolMapping } from 'devtools-protocol/types/protocol-mapping.js';
import { type Driver, type DriverOptions, inFlight, sandboxFlags, VIEWPORT } from './support/driver.ts';

/*
 * The ceiling: the minimum work that Chromium needs for an isolated screenshot and HTML snapshot of a page. It has no
 * deadlines, retries, waits for a page to settle, or store, so any real service is slower.
 */

type Commands = ProtocolMapping.Commands;
type Send = <C extends keyof Commands>(
  method: C,
  params?: Commands[C]['paramsType'][0],
  sessionId?: string,
) => Promise<Commands[C]['returnType']>;

interface Message {
  readonly id?: number;
  readonly method?: string;
  // biome-ignore lint/suspicious/noExplicitAny: the wire's shape is the browser's, checked by nothing here
  readonly params?: any;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly result?: any;
  readonly error?: { readonly message: string };
  readonly sessionId?: string;
}

export async function open({ browserPath }: DriverOptions): Promise<Driver> {
  const profile = await mkdtemp(join(tmpdir(), 'capstan-bench-'));
  const flags = [
    ...sandboxFlags(),
    '--remote-debugging-pipe',
    `--user-data-dir=${profile}`,
    '--disable-gpu',
    '--hide-scrollbars',
    '--mute-audio',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-background-timer-throttling',
    '--disable-backgrounding-occluded-windows',
    '--disable-renderer-backgrounding',
    '--disable-extensions',
    '--disable-breakpad',
    '--disable-dev-shm-usage',
    '--force-color-profile=srgb',
    '--ignore-certificate-errors',
    `--window-size=${VIEWPORT.width},${VIEWPORT.height}`,
  ];
  const browser = spawn(browserPath, flags, { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
  const attached = new Map<string, (sessionId: string) => void>();
  const loads = new Map<string, (event: Protocol.Page.LifecycleEventEvent) => void>();
  const send = connect(browser, (message) => {
    if (message.method === 'Page.lifecycleEvent') loads.get(message.sessionId ?? '')?.(message.params);
    if (message.method !== 'Target.attachedToTarget') return;
    const event: Protocol.Target.AttachedToTargetEvent = message.params;
    attached.get(event.targetInfo.browserContextId ?? '')?.(event.sessionId);
  });
  await send('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: true, flatten: true });

  const capture = async (url: string) => {
    const { browserContextId } = await send('Target.createBrowserContext', { disposeOnDetach: true });
    const session = new Promise<string>((resolve) => attached.set(browserContextId, resolve));
    const created = send('Target.createTarget', { url: 'about:blank', browserContextId, ...VIEWPORT });
    const sessionId = await session;
    attached.delete(browserContextId);
    // The load event may arrive before the answer to the navigation, and the blank page fires one too.
    const loadedBy = new Set<string>();
    let whenLoaded = (_loaderId: string) => {};
    loads.set(sessionId, ({ name, loaderId }) => {
      if (name !== 'load') return;
      loadedBy.add(loaderId);
      whenLoaded(loaderId);
    });
    await Promise.all([
      created,
      send('Page.enable', {}, sessionId),
      send('Page.setLifecycleEventsEnabled', { enabled: true }, sessionId),
      send('Runtime.runIfWaitingForDebugger', undefined, sessionId),
    ]);
    const { loaderId = '' } = await send('Page.navigate', { url }, sessionId);
    await new Promise<void>((resolve) => {
      whenLoaded = (loadedId) => loadedId === loaderId && resolve();
      if (loadedBy.has(loaderId)) resolve();
    });
    loads.delete(sessionId);
    const [screenshot, html] = await Promise.all([
      send('Page.captureScreenshot', { format: 'png', optimizeForSpeed: true }, sessionId),
      send('Runtime.evaluate', { expression: 'document.documentElement.outerHTML', returnByValue: true }, sessionId),
    ]);
    await send('Target.disposeBrowserContext', { browserContextId });
    return { image: Buffer.from(screenshot.data, 'base64'), html: String(html.result.value) };
  };

  return {
    run: (urls, concurrency) => inFlight(urls, concurrency, capture),
    close: async () => {
      const gone = once(browser, 'exit');
      // The process may exit before it answers.
      send('Browser.close').catch(() => {});
      await gone;
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Messages are JSON, terminated by NUL: file descriptor 3 takes commands, 4 returns answers and events. */
function connect(browser: ChildProcess, onEvent: (message: Message) => void): Send {
  const writer = browser.stdio[3] as Writable;
  const reader = browser.stdio[4] as Readable;
  const waiting = new Map<number, { resolve: (result: never) => void; reject: (error: Error) => void }>();
  let lastId = 0;
  let pieces: Buffer[] = [];

  const dispatch = (text: string) => {
    const message: Message = JSON.parse(text);
    const caller = message.id === undefined ? undefined : waiting.get(message.id);
    if (message.id === undefined || caller === undefined) return onEvent(message);
    waiting.delete(message.id);
    if (message.error) caller.reject(new Error(message.error.message));
    else caller.resolve(message.result as never);
  };
  reader.on('data', (chunk: Buffer) => {
    let start = 0;
    for (let end = chunk.indexOf(0); end >= 0; end = chunk.indexOf(0, start)) {
      dispatch(Buffer.concat([...pieces, chunk.subarray(start, end)]).toString());
      pieces = [];
      start = end + 1;
    }
    if (start < chunk.length) pieces.push(chunk.subarray(start));
  });
  return (method, params, sessionId) =>
    new Promise((resolve, reject) => {
      lastId += 1;
      waiting.set(lastId, { resolve, reject });
      writer.write(`${JSON.stringify({ id: lastId, method, params, sessionId })}\0`);
    });
}
