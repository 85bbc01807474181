import type { CaptureRequest } from '../capture/request.ts';
import type { Varied } from '../capture/stability.ts';
import { steadyPage, type World } from './steady-page.ts';

/** One capture of a check: what is different in it from the first one. */
export interface Variation {
  readonly varied: Varied;
  readonly request: CaptureRequest;
}

export interface Variations {
  readonly first: Variation;
  readonly again: Variation;
  readonly clock: Variation;
  readonly randomness: Variation;
  readonly animation: Variation;
  /** The longer the page had time, the later. */
  readonly times: readonly Variation[];
  readonly ads: Variation;
  readonly adsAgain: Variation;
}

/** Returns the captures of a check in order. */
export function captureOrder({ times, ads, adsAgain, ...others }: Variations): readonly Variation[] {
  return [...Object.values(others), ...times, ads, adsAgain];
}

/** Clocks of the page, in milliseconds since 1970: they differ in each field, down to the second and the day of the week. */
const NOW = Date.UTC(2026, 2, 10, 9, 41, 7);
const OTHER_NOW = Date.UTC(2027, 10, 24, 16, 28, 53);
/** Delay in which a page comes to the end of its first frames. */
const REST_MS = 500;
/** Delays after which pages are looked at again: whatever changes every few seconds is not the same at each of them. */
const LATER_MS = [1_300, 3_200, 5_900, 9_700];

/** Number of captures of a check. */
export const CAPTURES_OF_CHECK = 7 + LATER_MS.length;

/** Returns the captures of a check. All but what a capture varies is the same in each of them. */
export function variationsOf(wanted: CaptureRequest): Variations {
  // Without its timers, a page would not come to what the request waits for.
  const awaited = [wanted.waitForSelector, wanted.waitForFunction, wanted.actions, wanted.form];
  const still: World = { now: NOW, seed: 1, frames: false, timers: awaited.some((each) => each !== undefined) };
  const { javascript, outputs: _outputs, extract: _extract, callback: _callback, ...rest } = wanted;
  const made = (varied: Varied, world: Partial<World>, change: Partial<CaptureRequest> = {}): Variation => ({
    varied,
    request: {
      ...rest,
      elementMap: true,
      animations: 'disabled',
      cacheMaxAgeMs: 0,
      delayMs: wanted.delayMs + REST_MS,
      ...change,
      javascript: { ...javascript, before: `${steadyPage({ ...still, ...world })}\n${javascript?.before ?? ''}` },
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
