import { z } from 'zod';
import { type PageOptions, RESOURCE_TYPES } from '../../../capture/request.ts';
import { flag, objectOf } from '../fields.ts';

/** Of each script and of the style sheet. */
const MAX_SOURCE_CHARACTERS = 64 * 1024;
const MAX_PATTERNS = 100;
const MAX_PATTERN_CHARACTERS = 512;

const source = () =>
  z
    .string({ error: 'must be a string' })
    .max(MAX_SOURCE_CHARACTERS, { error: `must have at most ${MAX_SOURCE_CHARACTERS} characters` })
    .optional();

/** What is done to the page without touching it as a person would. */
export const pageFields = {
  javascript: objectOf(
    {
      before: source().meta({ description: 'Run in every document before its own scripts.' }),
      after: source().meta({ description: 'Run in each document once it has loaded; a promise is awaited.' }),
    },
    'javascript',
    'an object of before, after or both',
  )
    .optional()
    .meta({ description: "Run as the page's own scripts are." }),
  css: source().meta({ description: 'A style sheet that is added to the page, after its own. No @import.' }),
  block: objectOf(
    {
      types: z
        .array(z.enum(RESOURCE_TYPES, { error: `must be one of ${RESOURCE_TYPES.join(', ')}` }), {
          error: 'must be a list of resource types',
        })
        .max(RESOURCE_TYPES.length, { error: 'must name each type once' })
        .optional(),
      urls: z
        .array(
          z
            .string({ error: 'must be a string' })
            .min(1, { error: 'must not be empty' })
            .max(MAX_PATTERN_CHARACTERS, { error: `must have at most ${MAX_PATTERN_CHARACTERS} characters` }),
          { error: 'must be a list of URL patterns' },
        )
        .max(MAX_PATTERNS, { error: `must have at most ${MAX_PATTERNS} patterns` })
        .optional()
        .meta({ description: 'Each is held against the whole URL; `*` stands for any characters.' }),
    },
    'block',
    'an object of types, urls or both',
  )
    .optional()
    .meta({ description: 'What the page does not get. The page itself is never blocked.' }),
  blockAds: flag.optional().meta({
    description: 'What companies whose business is advertising serve is blocked, by their hosts.',
    default: false,
  }),
  acceptCookieBanners: flag
    .optional()
    .meta({ description: 'A cookie banner that is known is given the answer that accepts all.', default: false }),
  rejectCookieBanners: flag
    .optional()
    .meta({ description: 'A cookie banner that is known is given the answer that accepts the least.', default: false }),
};

interface BannerAnswers {
  readonly acceptCookieBanners?: boolean | undefined;
  readonly rejectCookieBanners?: boolean | undefined;
}

/** One banner gets one answer. */
export function refuseTwoAnswers(answers: BannerAnswers, context: z.RefinementCtx): void {
  if (answers.acceptCookieBanners === true && answers.rejectCookieBanners === true) {
    const message = 'cannot be true beside acceptCookieBanners: give one of them';
    context.addIssue({ code: 'custom', path: ['rejectCookieBanners'], message });
  }
}

/** The one answer that the two fields stand for. */
export function withBannerAnswer<T extends BannerAnswers>({
  acceptCookieBanners,
  rejectCookieBanners,
  ...written
}: T): Omit<T, keyof BannerAnswers> & Pick<PageOptions, 'cookieBanners'> {
  if (acceptCookieBanners === true) return { ...written, cookieBanners: 'accept' };
  return rejectCookieBanners === true ? { ...written, cookieBanners: 'reject' } : written;
}
