import type { Varied } from '../capture/comparison/stability.ts';
import { type CaptureRequest, DEFAULT_REQUEST } from '../capture/request.ts';
import { call } from '../page/asking/page-scripts.ts';
import type { World } from '../page-scripts/steady/world.ts';

/** One capture of a check, and its difference from the first one. */
export interface Variation {
  readonly varied: Varied;
  readonly request: CaptureRequest;
}

interface Variations {
  readonly first: Variation;
  readonly again: Variation;
  readonly clock: Variation;
  readonly randomness: Variation;
  readonly animation: Variation;
  /** In the order of increasing delay. */
  readonly times: readonly Variation[];
  readonly ads: Variation;
  readonly adsAgain: Variation;
}

/** Returns the captures of a check in order. */
export function captureOrder({ times, ads, adsAgain, ...others }: Variations): readonly Variation[] {
  return [...Object.values(others), ...times, ads, adsAgain];
}

/** Two times, in milliseconds since 1970, that differ in every field from year to second, and in the weekday. */
const NOW = Date.UTC(2026, 2, 10, 9, 41, 7);
const OTHER_NOW = Date.UTC(2027, 10, 24, 16, 28, 53);
/** Delay in which a page finishes its first frames, in milliseconds. */
const REST_MS = 500;
/** Delays of later captures, in milliseconds. Content that changes every few seconds differs between some of them. */
const LATER_MS = [1_300, 3_200, 5_900, 9_700];

/** Returns the captures of a check. Each has the same conditions except for the one that it varies. */
export function variationsOf(wanted: CaptureRequest): Variations {
  // Without timers, a page might never reach the state that the request waits for.
  const awaited = [wanted.waitForSelector, wanted.waitForFunction, wanted.actions, wanted.form];
  const still: World = { now: NOW, seed: 1, frames: false, timers: awaited.some((each) => each !== undefined) };
  const { javascript, outputs: _outputs, extract: _extract, callback: _callback, ...rest } = wanted;
  const made = (varied: Varied, world: Partial<World>, change: Partial<CaptureRequest> = {}): Variation => ({
    varied,
    request: {
      ...rest,
      elementMap: true,
      // Captures that shared a page would find what earlier ones left there.
      isolation: 'capture',
      animations: 'disabled',
      cacheMaxAgeMs: 0,
      delayMs: wanted.delayMs + REST_MS,
      ...change,
      javascript: {
        ...javascript,
        before: `${call('steadyPage', { ...still, ...world })};\n${javascript?.before ?? ''}`,
      },
    },
  });
  return {
    first: made('nothing', {}),
    again: made('nothing', {}),
    clock: made('clock', { now: OTHER_NOW }),
    randomness: made('randomness', { seed: 2 }),
    animation: made('animation', { frames: true }, { animations: 'allow' }),
    times: LATER_MS.map((ms) => made('time', { timers: true }, { delayMs: wanted.delayMs + ms })),
    ads: made('ads', {}, { blockAds: true }),
    adsAgain: made('ads', {}, { blockAds: true }),
  };
}

/** Number of captures of a check. */
export const CAPTURES_OF_CHECK = captureOrder(variationsOf(DEFAULT_REQUEST)).length;
