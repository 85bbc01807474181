import type { WatchNews } from '../../capture/events.ts';
import type { FeedEntry } from './feed.ts';

/** Returns the entries of what a watch has told. */
export function entriesOfNews(news: readonly WatchNews[]): readonly FeedEntry[] {
  return news.map((event) => {
    const { type, watch, url, labels, run } = event;
    const due = Date.parse(run.due);
    const isChange = type === 'watch.changed';
    return {
      id: `urn:capstan:watch:${watch}:${due}:${type.slice('watch.'.length)}`,
      at: run.at,
      title: sentenceOf(event),
      lines: [url],
      url,
      labels,
      capture: run.capture,
      before: isChange ? run.before : null,
      // Of the news of one run, a change comes before the recovery.
      place: `${String(due).padStart(16, '0')}${isChange ? 1 : 0}`,
    };
  });
}

function sentenceOf({ type, run: { changed, share, reason, code } }: WatchNews): string {
  if (type === 'watch.failed') return `Failed: ${reason ?? code ?? 'the page could not be captured'}`;
  if (type === 'watch.recovered') return 'The page can be captured again';
  const size = share === null || share === 0 ? '' : ` (${(share * 100).toFixed(2)} % of the image)`;
  const others = changed.filter((name) => name !== 'values');
  const said = reason === null ? [] : [reason];
  return [...said, ...(others.length === 0 ? [] : [`changed: ${others.join(', ')}${size}`])].join('; ');
}
