import type { Site } from '../fixtures/site.ts';
import type { RunningActor } from './actor.ts';
import { actorForSuite, siteForSuite } from './for-suite.ts';

export interface SiteAndActor {
  readonly site: Site;
  readonly running: RunningActor;
}

/** What a suite captures, and with what: there from before its first test until after its last. */
export function siteAndActor(): SiteAndActor {
  return { site: siteForSuite(), running: actorForSuite() };
}
