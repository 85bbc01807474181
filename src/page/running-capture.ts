import type { Deadline } from '../capture/deadline.ts';
import type { CapturePhase } from '../capture/phases.ts';
import type { CaptureRequest } from '../capture/request.ts';
import type { IsolatedPage } from './isolated-page.ts';
import type { DocumentFacts } from './observe-document.ts';
import type { Screenshot } from './screenshot/screenshot.ts';
import type { ShotPlan } from './screenshot/shot-plan.ts';

/** A capture on a page that has navigated to its URL. */
export interface RunningCapture {
  readonly page: IsolatedPage;
  readonly request: CaptureRequest;
  readonly plan: ShotPlan;
  readonly deadline: Deadline;
  /** The parts that are known so far, and are kept if the deadline comes before the others. */
  readonly found: { -readonly [part in keyof Taken]?: Taken[part] };
}

/** A document and its screenshot. */
export interface Taken {
  readonly facts: DocumentFacts;
  readonly screenshot: Screenshot;
  /** The phase that the deadline cut short; null when none was. */
  readonly cutPhase: CapturePhase | null;
}
