/** Phases of a capture in the browser, in order. */
export const BROWSER_PHASES = [
  'open',
  'navigate',
  'load',
  'interact',
  'wait',
  'settle',
  'picture',
  'evidence',
] as const;

/** Phases of a capture, in order: it may be dialled before it waits for a slot. */
export const CAPTURE_PHASES = ['dial', ...BROWSER_PHASES] as const;
export type CapturePhase = (typeof CAPTURE_PHASES)[number];
