import type { CaptureRequest } from '../../capture/request.ts';
import type { Milestone } from '../frames/main-frame.ts';

const MILESTONES: Readonly<Record<CaptureRequest['waitUntil'], Milestone>> = {
  settled: 'load',
  load: 'load',
  networkidle: 'load',
  domcontentloaded: 'DOMContentLoaded',
};

/** The milestone that a document must reach before it is changed, waited for or read. */
export function loadMilestone({ waitUntil }: CaptureRequest): Milestone {
  return MILESTONES[waitUntil];
}
