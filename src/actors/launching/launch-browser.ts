import { errorText } from '../../capture/basics/error-text.ts';
import { CdpClosedError } from '../../cdp/connection.ts';
import { BrowserHost, LaunchError } from '../browser-host.ts';
import { browserEnvironment } from './browser-environment.ts';
import type { StartCommand } from './browser-priority.ts';
import { startProcess } from './browser-process.ts';
import type { Confined } from './confinement.ts';
import { launchFlags } from './launch-flags.ts';
import { createProfile } from './profiles.ts';
import { removeProfile } from './remove-profile.ts';

/**
 * Time limit for the first answer of a browser, in milliseconds. Measured: 62 ms for Debian's headless shell when idle.
 */
const LAUNCH_TIMEOUT_MS = 20_000;

interface LaunchOptions {
  readonly executable: string;
  readonly confined: Confined;
  readonly startCommand: StartCommand;
  /** Keeps the user agent that names HeadlessChrome, and `navigator.webdriver` true. */
  readonly honestUserAgent: boolean;
  /** Cancels the launch when aborted. */
  readonly signal?: AbortSignal;
  /** Variables added to the browser's environment (fonts). */
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Launches a browser and resolves once it accepts commands. Rejects with a `LaunchError`, and then leaves nothing
 * behind.
 */
export async function launchBrowser(options: LaunchOptions): Promise<BrowserHost> {
  const profileDir = await createProfile();
  const { sandbox, user } = options.confined;
  const env = browserEnvironment(process.env, profileDir, options.env);
  const flags = launchFlags({ profileDir, sandbox, honest: options.honestUserAgent });
  const { executable, startCommand } = options;
  const child = await startProcess({ executable, flags, env, profileDir, user, startCommand }).catch(
    async (error: unknown) => {
      await removeProfile(profileDir).catch(() => undefined);
      throw new LaunchError(`${options.executable} did not start: ${String(error)}`, { cause: error, ended: true });
    },
  );
  const host = new BrowserHost(child, profileDir, options.honestUserAgent);
  const cancel = () => host.killNow();
  options.signal?.addEventListener('abort', cancel, { once: true });
  if (options.signal?.aborted === true) cancel();
  try {
    await host.ready(LAUNCH_TIMEOUT_MS);
    options.signal?.removeEventListener('abort', cancel);
    return host;
  } catch (error) {
    options.signal?.removeEventListener('abort', cancel);
    await host.kill();
    const why = [host.lastWords(), errorText(error)].filter((words) => words !== '');
    // The pipes may close before the exit is reported.
    const ended = error instanceof CdpClosedError || (error instanceof LaunchError && error.ended);
    throw new LaunchError(`${options.executable} did not start: ${why.join('; ')}`, { cause: error, ended });
  }
}
