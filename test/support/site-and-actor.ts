import pLimit from 'p-limit';
import type { CaptureOptions, CaptureRequest } from '../../src/capture/request.ts';
import type { Snapshot } from '../../src/capture/result/snapshot.ts';
import type { Site } from '../fixtures/site.ts';
import { patience, type RunningActor } from './actor.ts';
import { captureRequest } from './capture-request.ts';
import { actorForSuite, siteForSuite } from './for-suite.ts';

export interface SiteAndActor {
  readonly site: Site;
  readonly running: RunningActor;
  /** Captures a path of the site. */
  readonly capture: (path: string, options?: CaptureOptions) => Promise<Snapshot>;
  /** Captures HTML that the site serves, by default on one page: given HTML gets a page of its own. */
  readonly captureHtml: (html: string, options?: CaptureOptions) => Promise<Snapshot>;
  readonly captureOf: (request: CaptureRequest) => Promise<Snapshot>;
}

/** The slots of suites whose captures mostly wait for their deadlines, and need little of the processor meanwhile. */
export const WAITING_SLOTS = 12;

const HTML = 'text/html; charset=utf-8';

/** The batch of all captures of a suite. */
const ONE_BATCH = { batch: 'of a suite' };

/**
 * Options of captures that share a page, which takes a third of a capture's CPU time. For pages that keep nothing, in
 * tests of what is read of them.
 */
export const ON_ONE_PAGE = { isolation: 'batch' } as const satisfies CaptureOptions;

/** A narrow window: the pixels of the default one take a fifth of a capture's CPU time, of full pages more than half. */
export const NARROW = { width: 320, height: 720 } as const satisfies CaptureOptions['viewport'];

/** Defaults of suites that look at images, in none of which the width of the window matters. */
export const IN_NARROW_WINDOW = { elementMap: false, viewport: NARROW } as const satisfies CaptureOptions;

/** Defaults of suites that look at no image: pages have the layout of the default window, drawn in few pixels. */
export const IN_FEW_PIXELS = {
  elementMap: false,
  viewport: { deviceScaleFactor: 0.25 },
} as const satisfies CaptureOptions;

/**
 * Starts the fixture site and an actor before a suite's first test, and stops them after its last one. Captures of
 * concurrent tests wait for a slot, as in the service, before their deadlines begin.
 *
 * @param defaults options of each capture; the element map costs a seventh of a capture's CPU time
 */
export function siteAndActor(defaults: CaptureOptions = { elementMap: false }, slots = 4): SiteAndActor {
  const [site, running] = [siteForSuite(), actorForSuite({ maxConcurrent: slots })];
  const turn = pLimit(slots);
  const captureOf: SiteAndActor['captureOf'] = (request) =>
    turn(() => running.actor.capture(request, patience, ONE_BATCH));
  const capture: SiteAndActor['capture'] = (path, options = {}) =>
    captureOf(captureRequest(site.url(path), { ...defaults, ...options }));
  const captureHtml: SiteAndActor['captureHtml'] = (html, options = {}) =>
    capture(`/part?${new URLSearchParams({ type: HTML, text: html })}`, { ...ON_ONE_PAGE, ...options });
  return { site, running, capture, captureHtml, captureOf };
}
