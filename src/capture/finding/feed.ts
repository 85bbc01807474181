import { z } from 'zod';
import type { Immutable } from '../basics/immutable.ts';
import { id, instant } from '../basics/values.ts';
import { apiKeyName } from '../named-key.ts';

/* A feed is a link by which feed readers follow a watch, a label, a scan or a search, without an API key. */

/** Sources of a feed, which has one of them. */
const feedSources = {
  watch: id.exactOptional().meta({ description: 'Id of a watch: its changes, failures and recoveries.' }),
  label: z.string().exactOptional().meta({ description: 'Captures with this label.' }),
  scan: z.string().exactOptional().meta({ description: 'Captures of this scan.' }),
  search: z
    .record(z.string(), z.string())
    .exactOptional()
    .meta({ description: 'Captures that meet these conditions, as written.' }),
};

const FeedSourceSchema = z.strictObject(feedSources);
export type FeedSource = Immutable<z.output<typeof FeedSourceSchema>>;

export const FeedSchema = z.strictObject({
  id: z.string().meta({ description: 'The id of the feed, by which it is revoked.' }),
  url: z.string().meta({ description: 'Its URL: Atom, or JSON Feed for clients that prefer it.' }),
  atom: z.string().meta({ description: 'The URL of the Atom feed.' }),
  json: z.string().meta({ description: 'The URL of the JSON Feed.' }),
  ...feedSources,
  created_at: instant,
  api_key_name: apiKeyName.meta({ description: 'Name of the API key that made it.' }),
});
export type FeedAnswer = Immutable<z.output<typeof FeedSchema>>;
