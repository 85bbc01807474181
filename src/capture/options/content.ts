import { optionFacts } from './facts.ts';
import { flag, objectOf, textOf } from './fields.ts';

/** Maximum length of each script and of the style sheet. */
const MAX_SOURCE_CHARACTERS = 64 * 1024;

const source = textOf(MAX_SOURCE_CHARACTERS).optional();

/** Content added to the page, and answers to cookie banners. */
export const contentFields = {
  javascript: objectOf(
    {
      before: source.meta({ description: 'Run in every document before its own scripts.' }),
      after: source.meta({ description: 'Run in each document once it has loaded; a promise is awaited.' }),
    },
    'javascript',
    'an object with before, after or both',
  )
    .optional()
    .meta({
      description:
        'JavaScript that runs in the page: `before` in each document before its own scripts, `after` once it has loaded.',
    }),
  css: source
    .meta({ description: 'Style sheet that is added after those of the page. `@import` has no effect.' })
    .register(optionFacts, { secret: false }),
  acceptCookieBanners: flag.default(false).meta({ description: 'Answer cookie banners by accepting everything.' }),
  rejectCookieBanners: flag
    .default(false)
    .meta({ description: 'Answer cookie banners by accepting as little as possible.' }),
};

export interface BannerAnswers {
  readonly acceptCookieBanners?: boolean | undefined;
  readonly rejectCookieBanners?: boolean | undefined;
}

export type BannerAnswer = 'accept' | 'reject';

/** Merges `acceptCookieBanners` and `rejectCookieBanners` into `cookieBanners`. */
export function withBannerAnswer<T extends BannerAnswers>({
  acceptCookieBanners,
  rejectCookieBanners,
  ...written
}: T): Omit<T, keyof BannerAnswers> & { readonly cookieBanners?: BannerAnswer | undefined } {
  if (acceptCookieBanners === true) return { ...written, cookieBanners: 'accept' };
  return rejectCookieBanners === true ? { ...written, cookieBanners: 'reject' } : written;
}
