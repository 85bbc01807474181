import { createHash } from 'node:crypto';
import { z } from 'zod';
import { CapstanError } from '../../capture/errors.ts';
import { infoIfReadable } from '../../storage/failures/store-errors.ts';
import { matchesEtag } from '../answer/if-none-match.ts';
import { atomOf } from '../feeds/atom.ts';
import { type Entries, entriesOf } from '../feeds/entries.ts';
import type { FeedEntry, FeedPage, ShownEntry } from '../feeds/feed.ts';
import { jsonFeedOf } from '../feeds/json-feed.ts';
import { entryTarget, FEED_FORMS, type FeedForm, feedTarget, type OpenFeed, openFeed } from '../feeds/open-feed.ts';
import { text } from '../openapi/content.ts';
import { DATABASE_FAILURES } from '../openapi/failures.ts';
import { publicUrl } from '../request/public-address.ts';
import { type RouteContext, route } from '../route.ts';
import type { HttpContext } from '../state.ts';

/* The feed itself, for feed readers. Only signed links are answered. */

const FORMS = {
  atom: { type: 'application/atom+xml', write: atomOf },
  json: { type: 'application/feed+json', write: jsonFeedOf },
} as const satisfies Record<FeedForm, { readonly type: string; readonly write: (page: FeedPage) => string }>;
const TYPES = [FORMS.atom.type, FORMS.json.type, 'application/json'];

export const getFeed = route({
  method: 'GET',
  path: '/feeds/{id}',
  operationId: 'readFeed',
  summary: 'A feed, for feed readers. Needs no API key.',
  description:
    'At most 50 entries, newest first; the next page is `rel="next"` of Atom, `next_url` of JSON Feed. Images are enclosures, by links that end with the feed. It shows what the key that made it may see now, and ends with that key.',
  tag: 'results',
  isOpen: true,
  isSignable: true,
  needsDatabase: true,
  parameters: {
    id: z.string().meta({
      description: "A feed's id, and `.atom` or `.json`. Without one of them, `Accept` decides between both.",
    }),
    cursor: z.string().optional().meta({ description: 'Position of the page; part of the signed link.' }),
    expires: z.string().optional().meta({ description: 'Part of the signed link.' }),
    signature: z.string().optional().meta({ description: 'Part of the signed link.' }),
  },
  answers: {
    200: {
      description: 'The feed.',
      content: { ...text(FORMS.atom.type), [FORMS.json.type]: { text: { type: 'object' } } },
      headers: ['ETag', 'Last-Modified', 'Cache-Control'],
    },
    304: { description: 'The client has it already.', content: {}, headers: ['ETag', 'Cache-Control'] },
  },
  failures: ['link_refused', 'not_found', ...DATABASE_FAILURES],
  handle: async (ctx, { id: name, cursor }, context) => {
    if (ctx.state.isSigned !== true)
      throw new CapstanError('link_refused', 'The link is not complete: its signature is missing.');
    const [id = '', suffix] = name.split('.');
    const form = FEED_FORMS.find((each) => each === suffix);
    const feed = await openFeed(context, id);
    const found = feed && (await entriesOf(feed.link.source, feed.service, feed.ofKey, cursor));
    if (feed === undefined || found === undefined)
      throw new CapstanError('not_found', 'The feed was revoked, or its watch or its API key was removed.');
    ctx.vary('Accept');
    const { type, write } = FORMS[form ?? preferredForm(ctx)];
    const page = await pageOf(ctx, context, feed, found, form, cursor);
    const body = write(page);
    ctx.set({
      'Cache-Control': 'private, max-age=60',
      ETag: `"${createHash('sha256').update(body).digest('base64url')}"`,
      'Last-Modified': new Date(page.updated).toUTCString(),
      'X-Robots-Tag': 'noindex, nofollow',
    });
    // By the tag alone: a capture that took long comes below newer ones, and leaves the time as it was.
    if (matchesEtag(ctx.get('If-None-Match'), ctx.response.get('ETag'))) {
      ctx.status = 304;
      return;
    }
    ctx.status = 200;
    ctx.type = `${type}; charset=utf-8`;
    ctx.body = body;
  },
});

function preferredForm(ctx: HttpContext): FeedForm {
  const preferred = ctx.accepts(TYPES);
  return preferred === false || preferred === FORMS.atom.type ? 'atom' : 'json';
}

async function pageOf(
  ctx: HttpContext,
  { config }: Pick<RouteContext, 'config'>,
  { link, service }: OpenFeed,
  { title, view, entries, isCut }: Entries,
  form: FeedForm | undefined,
  cursor: string | undefined,
): Promise<FeedPage> {
  const [signingKey = ''] = config.signingKey;
  const base = publicUrl(ctx);
  const target = (place?: string) => `${base}${feedTarget(link.id, signingKey, form, place)}`;
  const last = entries.at(-1);
  return {
    id: `urn:capstan:${link.id}`,
    title,
    self: target(cursor),
    next: isCut && last !== undefined ? target(last.place) : undefined,
    home: `${base}/ui${view}`,
    updated: entries[0]?.at ?? new Date(link.createdAt).toISOString(),
    entries: await Promise.all(entries.map((entry) => shown(entry, { link, service }, base, signingKey))),
  };
}

/** Adds the links of an entry, as far as its captures still exist and can be read. */
async function shown(
  entry: FeedEntry,
  { link, service: { artifacts } }: Pick<OpenFeed, 'link' | 'service'>,
  base: string,
  signingKey: string,
): Promise<ShownEntry> {
  const { capture, before } = entry;
  const info = capture === null ? undefined : await infoIfReadable(artifacts, capture);
  if (capture === null || info === undefined) {
    return { ...entry, page: undefined, screenshot: undefined, difference: undefined };
  }
  const old = before === null ? undefined : await infoIfReadable(artifacts, before);
  const isCompared = old !== undefined && old.format !== 'pdf' && info.format !== 'pdf';
  const compared = { capture, before: isCompared ? before : null };
  const url = (of: typeof compared, part?: 'image' | 'difference') =>
    `${base}${entryTarget(link.id, of, signingKey, part)}`;
  return {
    ...entry,
    page: url(compared),
    screenshot: { url: url({ capture, before: null }, 'image'), info },
    difference: isCompared ? url(compared, 'difference') : undefined,
  };
}
