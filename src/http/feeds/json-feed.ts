import { ARTIFACTS } from '../../capture/artifacts/artifacts.ts';
import { contentOf, uriOf } from './content.ts';
import type { FeedPage, ShownEntry } from './feed.ts';

/** Returns a page of a feed as JSON Feed 1.1. */
export function jsonFeedOf({ title, self, next, home, entries }: FeedPage): string {
  return JSON.stringify({
    version: 'https://jsonfeed.org/version/1.1',
    title: title.toWellFormed(),
    home_page_url: home,
    feed_url: self,
    next_url: next,
    authors: [{ name: 'Capstan' }],
    items: entries.map(itemOf),
  });
}

function itemOf(entry: ShownEntry) {
  const { id, at, title, url, labels, page, screenshot, difference } = entry;
  const isImage = screenshot !== undefined && screenshot.info.format !== 'pdf';
  return {
    id,
    url: page,
    external_url: uriOf(url),
    title: title.toWellFormed(),
    content_html: contentOf(entry).toWellFormed(),
    image: difference ?? (isImage ? screenshot.url : undefined),
    date_published: at,
    date_modified: at,
    tags: labels.length === 0 ? undefined : labels,
    attachments: screenshot && [
      {
        url: screenshot.url,
        mime_type: ARTIFACTS.image.mediaType(screenshot.info.format),
        size_in_bytes: screenshot.info.bytes,
      },
    ],
  };
}
