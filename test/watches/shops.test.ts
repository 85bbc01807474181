import { describe, expect, it } from 'vitest';
import { siteAndActor } from '../support/site-and-actor.ts';
import { shopPages } from './shops/shop-pages.ts';
import { wrongStates } from './shops/watch-states.ts';

/** All are 100. The first 20 have each theme and each locale. */
const PAGES = Number(process.env.CAPSTAN_SHOP_PAGES ?? 20);
/** In milliseconds. */
const TIMEOUT = PAGES * 10_000;

const ground = siteAndActor();

describe('a watch of a shop or a list', () => {
  it(
    `tells of each change once and of nothing else, on ${PAGES} pages in 10 states`,
    async () => {
      const pages = shopPages(PAGES).values();
      const wrong: string[] = [];
      // As many at once as the actor captures.
      const lane = async () => {
        for (const page of pages) wrong.push(...(await wrongStates(ground, page)));
      };
      await Promise.all([lane(), lane(), lane(), lane()]);
      expect(wrong).toEqual([]);
    },
    TIMEOUT,
  );
});
