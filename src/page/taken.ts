import type { CapturePhase } from '../capture/phases.ts';
import type { DocumentFacts } from './observe-document.ts';
import type { Picture } from './screenshot/picture.ts';

/** A document and its screenshot. */
export interface Taken {
  readonly facts: DocumentFacts;
  readonly picture: Picture;
  /** The phase that the deadline cut short; null when none was. */
  readonly cutPhase: CapturePhase | null;
}
