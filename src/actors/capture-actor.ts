import type { Observable } from 'rxjs';
import type { BrowserEvent } from '../capture/events.ts';
import type { CaptureRequest } from '../capture/request.ts';
import type { Snapshot } from '../capture/snapshot.ts';
import type { Script } from './missing-scripts.ts';

/** What the rest of the house knows of browsers. */
export interface CaptureActor {
  /**
   * One capture on an isolated page, within `request.timeoutMs`. Rejects with a `CapstanError`:
   * `target_unreachable`, `target_forbidden`, `proxy_failed`, `not_a_page`, `capture_timeout`, `page_crashed`, `page_too_large`,
   * `browser_unavailable`, `cancelled` when the signal is aborted; and with `selector_not_found`, `script_failed` or
   * `action_failed` when the page does not have, or let be done, what the request names.
   */
  capture(request: CaptureRequest, signal: AbortSignal): Promise<Snapshot>;

  /** Whether a browser can be had, and if not, why: `reason` for clients, `detail` for the operator. */
  readonly availability:
    | { readonly available: true }
    | { readonly available: false; readonly reason: string; readonly detail: string };

  readonly events$: Observable<BrowserEvent>;

  /** Launches a browser ahead of the first capture. Resolves when one is there, or cannot be had now. */
  start(): Promise<void>;

  /** The scripts that the browser draws as boxes because it finds no font for them. Rejects when it ends first. */
  missingScripts(): Promise<readonly Script[]>;

  stats(): ActorStats;

  /** Captures at once, from now on. Those under way go on. */
  setSlots(slots: number): void;

  /** Kills every browser at once, without waiting for their end: for a process that is about to exit. */
  kill(): void;

  /** Ends the browsers; captures under way are cancelled. Afterwards no process and no profile directory is left. */
  close(): Promise<void>;
}

export interface ActorStats {
  /** Seats lent to captures now. */
  readonly busy: number;
  readonly idle: number;
  readonly browsers: readonly { readonly pid: number; readonly captures: number; readonly retiring: boolean }[];
  readonly launches: number;
  readonly crashes: number;
}
