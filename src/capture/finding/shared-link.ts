import { z } from 'zod';
import { VIEWS } from '../artifacts/artifacts.ts';
import type { Immutable } from '../basics/immutable.ts';
import { duration, SECOND_MS } from '../basics/time-fields.ts';
import { id, instant } from '../basics/values.ts';
import { apiKeyName } from '../named-key.ts';

/* A shared link leads to one stored capture, or to two that are compared, without an API key, until it expires. */

export const DAY_MS = 86_400 * SECOND_MS;
const MIN_MS = 60 * SECOND_MS;
const MAX_MS = 36_500 * DAY_MS;
/** Time until a link expires whose request names none. */
export const DEFAULT_SHARE_MS = 7 * DAY_MS;

/** Views that a link can show: a page about the capture, or one of its files. */
const SHARED_VIEWS = ['page', ...VIEWS] as const;

export const ShareRequestSchema = z
  .strictObject({
    view: z
      .enum(SHARED_VIEWS, { error: `must be one of ${SHARED_VIEWS.join(', ')}` })
      .default('page')
      .meta({
        description: '`page`: a page with the image, how it was made, and its evidence; otherwise the file itself.',
      }),
    with: z
      .int({ error: 'must be the id of a capture' })
      .positive({ error: 'must be the id of a capture' })
      .optional()
      .meta({ description: 'A second, later capture: the page shows both, and what differs.' }),
    expires: duration(MIN_MS, MAX_MS, 'from 1m to --max-share-days')
      .optional()
      .meta({
        description:
          'Time until the link expires, such as `12h` or `30d`. Default: `7d`, or `--max-share-days` if that is less.',
        examples: ['7d'],
      }),
  })
  .refine(({ view, with: other }) => other === undefined || view === 'page', {
    error: 'must be page, or be left out, with a second capture',
    path: ['view'],
  });

export const SharedLinkSchema = z.strictObject({
  id: z.string().meta({ description: 'The id of the link, by which it is revoked.' }),
  link: z.string().meta({ description: 'The URL to hand on, by the address of this request.' }),
  capture: id,
  with: id.nullable().meta({ description: 'The capture that it is compared with.' }),
  view: z.enum(SHARED_VIEWS),
  created_at: instant,
  expires_at: instant,
  api_key_name: apiKeyName.meta({ description: 'Name of the API key that shared it.' }),
});
export type SharedLinkAnswer = Immutable<z.output<typeof SharedLinkSchema>>;
export type SharedView = SharedLinkAnswer['view'];
