import type { Observable } from 'rxjs';
import type { CaptureCommand } from '../capture/command.ts';
import type { BrowserEvent } from '../capture/events.ts';
import type { ServiceStats } from '../capture/operation/stats.ts';
import type { CaptureRequest } from '../capture/request.ts';
import type { Snapshot } from '../capture/result/snapshot.ts';
import type { Script } from './checks/missing-scripts.ts';
import type { Unavailable } from './launching/launch-breaker.ts';

/** The port through which the rest of the service uses browsers. */
export interface Actors {
  /**
   * Captures once, on an isolated page, within `request.timeoutMs`. Rejects with a `CapstanError`:
   * `target_unreachable`, `target_forbidden`, `proxy_failed`, `not_a_page`, `capture_timeout`, `page_crashed`,
   * `page_too_large`, `browser_unavailable`; `cancelled` when the signal is aborted; `selector_not_found`,
   * `script_failed` or `action_failed` when the page lacks an element that the request names, or prevents a script or
   * an action.
   */
  capture(request: CaptureRequest, signal: AbortSignal, context?: CaptureContext): Promise<Snapshot>;

  /** The reason why no browser is available; null while one is. */
  readonly unavailable: Unavailable | null;

  readonly events$: Observable<BrowserEvent>;

  /** Launches a browser before the first capture. Resolves when it runs, or when no browser could be started. */
  start(): Promise<void>;

  /**
   * Returns the scripts that the browser draws as boxes, because it finds no font for them. Rejects when the browser
   * ends first.
   */
  missingScripts(): Promise<readonly Script[]>;

  /** `busy`: actors in use by captures. */
  stats(): ServiceStats['pool'];

  /** Tells how many captures may run at once. Captures in progress continue. */
  setSlots(slots: number): void;

  /** Kills every browser without waiting for its end. For a process that is about to exit. */
  kill(): void;

  /** Cancels captures in progress and closes the browsers. Afterwards no process and no profile directory is left. */
  close(): Promise<void>;
}

/** The batch of a capture, the connection for it, and callbacks for its progress. */
export interface CaptureContext extends Partial<Pick<CaptureCommand, 'batch' | 'dialled' | 'onPhase'>> {
  /** Part of the request's `timeoutMs` that has passed before, in milliseconds. @default 0 */
  readonly earlierMs?: number;
  /**
   * Called once nothing of the capture is left in a browser, so that another capture may take its slot. The slot
   * itself is freed at most 5 s after the snapshot or the failure: a browser that takes longer hangs, and is replaced.
   */
  readonly onReturned?: (() => void) | undefined;
}
