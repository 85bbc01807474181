import type { WatchNews } from '../../capture/events.ts';
import { sentenceOf } from '../../receivers/say-event.ts';
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
