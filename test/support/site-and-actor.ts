import type { CaptureOptions } from '../../src/capture/request.ts';
import type { Snapshot } from '../../src/capture/snapshot.ts';
import type { Site } from '../fixtures/site.ts';
import { patience, type RunningActor } from './actor.ts';
import { captureRequest } from './capture-request.ts';
import { actorForSuite, siteForSuite } from './for-suite.ts';

export interface SiteAndActor {
  readonly site: Site;
  readonly running: RunningActor;
  /** Captures a path of the site. */
  readonly capture: (path: string, options?: CaptureOptions) => Promise<Snapshot>;
}

/**
 * Starts the fixture site and an actor before a suite's first test, and stops them after its last one.
 *
 * @param defaults options of each capture; the element map costs a seventh of a capture's CPU time
 */
export function siteAndActor(defaults: CaptureOptions = { elementMap: false }): SiteAndActor {
  const [site, running] = [siteForSuite(), actorForSuite()];
  const capture: SiteAndActor['capture'] = (path, options = {}) =>
    running.actor.capture(captureRequest(site.url(path), { ...defaults, ...options }), patience);
  return { site, running, capture };
}
