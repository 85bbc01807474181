import type { Site } from '../fixtures/site.ts';
import type { RunningActor } from './actor.ts';
import { actorForSuite, siteForSuite } from './for-suite.ts';

export interface SiteAndActor {
  readonly site: Site;
  readonly running: RunningActor;
}

/** Starts the fixture site and an actor before a suite's first test, and stops them after its last one. */
export function siteAndActor(): SiteAndActor {
  return { site: siteForSuite(), running: actorForSuite() };
}
