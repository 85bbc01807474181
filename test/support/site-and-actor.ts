import { afterAll, beforeAll } from 'vitest';
import { type Site, startSite } from '../fixtures/site.ts';
import { type RunningActor, startActor } from './actor.ts';

export interface SiteAndActor {
  readonly site: Site;
  readonly running: RunningActor;
}

/** What a suite captures, and with what: there from before its first test until after its last. */
export function siteAndActor(): SiteAndActor {
  let site: Site;
  let running: RunningActor;
  beforeAll(async () => {
    [site, running] = await Promise.all([startSite(), startActor()]);
  });
  afterAll(async () => {
    await running?.stop();
    await site?.close();
  });
  return {
    get site() {
      return site;
    },
    get running() {
      return running;
    },
  };
}
