import { errorText } from '../../capture/basics/error-text.ts';
import type { LaunchConfig } from '../../config/slices.ts';
import { type BrowserHost, LaunchError } from '../browser-host.ts';
import { type StartCommand, startCommand } from './browser-priority.ts';
import { Confinement } from './confinement.ts';
import { type ExecutableFinder, executableFinder } from './executable.ts';
import type { Unavailable } from './launch-breaker.ts';
import { launchBrowser } from './launch-browser.ts';

const NOT_STARTED = 'Chromium did not start: the log of the service has the cause';

/** Called when the system does not allow what `sandbox` or `browserPriority` asks for. */
type Warn = (text: string, about: 'sandbox' | 'priority') => void;

/** Launches browsers as the configuration says: which file, with which privileges, at which priority. */
export class Launcher {
  readonly findExecutable: ExecutableFinder;
  readonly #confinement: Confinement;
  readonly #startCommand: StartCommand;
  readonly #honestUserAgent: boolean;

  constructor({ browserPath, sandbox, browserPriority, honestUserAgent }: LaunchConfig, warn: Warn) {
    this.findExecutable = executableFinder(browserPath ?? undefined);
    this.#confinement = new Confinement(sandbox, (text) => warn(text, 'sandbox'));
    this.#startCommand = startCommand(browserPriority, (text) => warn(text, 'priority'));
    this.#honestUserAgent = honestUserAgent;
  }

  /** The privileges that the next browser gets. */
  get confined(): Confinement['now'] {
    return this.#confinement.now;
  }

  /** Launches a browser. Tries again with less confinement where the system does not allow it. */
  async launch(signal: AbortSignal): Promise<BrowserHost | Unavailable> {
    const found = await this.findExecutable();
    if ('missing' in found) return { reason: found.missing, detail: found.detail ?? found.missing };
    const confined = this.#confinement.now;
    try {
      const host = await launchBrowser({
        executable: found.path,
        env: found.env,
        confined,
        startCommand: this.#startCommand,
        honestUserAgent: this.#honestUserAgent,
        signal,
      });
      this.#confinement.works(confined);
      return host;
    } catch (error) {
      const detail = errorText(error);
      const ended = error instanceof LaunchError && error.ended;
      const isLoosened = ended && !signal.aborted && this.#confinement.loosen(confined, detail);
      return isLoosened ? this.launch(signal) : { reason: NOT_STARTED, detail };
    }
  }
}
