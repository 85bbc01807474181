import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright';
import { afterEach } from 'vitest';
import { executableFinder } from '../../src/actors/launching/executable.ts';
import { whenFirstAsked } from '../../src/capture/basics/once.ts';
import type { ServiceConfig } from '../../src/config/slices.ts';
import { forSuite } from '../support/for-suite.ts';
import { type HttpOverrides, type RunningApp, serve } from '../support/serve.ts';
import { type RunningService, startService } from '../support/service.ts';
import { makeDirectory } from '../support/temporary-directory.ts';

const ROOT = join(import.meta.dirname, '../..');
const run = promisify(execFile);

/** Directory for pictures of the views, for people to look at; none are taken without it. */
const PICTURES = process.env.UI_PICTURES;

/** Returns a function that takes a picture of a page, whose file name begins with `view`. */
export function picturesOf(view: string): (page: Page, name: string) => Promise<void> {
  return async (page, name) => {
    if (PICTURES !== undefined) await page.screenshot({ path: join(PICTURES, `${view}-${name}.png`) });
  };
}

/** Options of a browser context with the screen of a phone. */
export const PHONE = { viewport: { width: 390, height: 844 } };

/** Options of a browser context for each screen on which a person may use the web interface. */
export const SCREENS: readonly (readonly [screen: string, options: BrowserContextOptions])[] = [
  ['at desktop width', {}],
  ['at phone width', PHONE],
];

/** Bundles the web interface as it is in the working tree, once for each process, and returns the directory. */
export const buildUi = whenFirstAsked(async (): Promise<string> => {
  const directory = await makeDirectory();
  await run(process.execPath, [join(ROOT, 'scripts/build-ui.js'), directory], { cwd: ROOT });
  return directory;
});

export async function launchBrowser(args: string[] = []): Promise<Browser> {
  const executable = await executableFinder(undefined)();
  if ('missing' in executable) throw new Error(executable.missing);
  const { path, env } = executable;
  return chromium.launch({ executablePath: path, args, chromiumSandbox: false, env: { ...process.env, ...env } });
}

let shared: Promise<Browser> | undefined;

/** The browser that opens the pages of all suites of a process, and ends with it. Each test has contexts of its own. */
async function sharedBrowser(): Promise<Browser> {
  const browser = await shared?.catch(() => undefined);
  if (browser?.isConnected()) return browser;
  shared = launchBrowser();
  return shared;
}

export interface UiForSuite {
  readonly app: RunningService;
  /** Opens a page of the service in a browser context of its own, which is closed after the test. */
  open(path: string, options?: BrowserContextOptions): Promise<Page>;
  /** Serves the service and the web interface at another address too, with other options: other keys. */
  serve(http: HttpOverrides): Promise<RunningApp>;
  /** Console errors and uncaught exceptions of the pages. */
  readonly complaints: readonly string[];
}

/** Starts a real service with the web interface for one suite. */
export function uiForSuite(config: Partial<ServiceConfig> = {}, http: HttpOverrides = {}): UiForSuite {
  const running = forSuite(
    async () => {
      const uiDirectory = await buildUi();
      const [app, browser] = await Promise.all([startService(config, { ...http, uiDirectory }), sharedBrowser()]);
      return { app, browser, uiDirectory };
    },
    ({ app }) => app.stop(),
  );
  const contexts: BrowserContext[] = [];
  const complaints: string[] = [];
  afterEach(async () => {
    await Promise.all(contexts.splice(0).map((context) => context.close()));
    complaints.length = 0;
  });
  return {
    get app() {
      return running.app;
    },
    complaints,
    serve: (options) => serve(running.app.service, { ...options, uiDirectory: running.uiDirectory }),
    async open(path, options = {}) {
      const context = await running.browser.newContext({ reducedMotion: 'reduce', ...options });
      contexts.push(context);
      const page = await context.newPage();
      page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
      page.on('pageerror', (error) => complaints.push(String(error)));
      await page.goto(new URL(path, running.app.baseUrl).href);
      return page;
    },
  };
}
