import { useEffect, useState } from 'preact/hooks';
import type { Feed, FeedRequest } from '../../src/client/types.ts';
import { call } from '../api/client.ts';
import { mayCapture } from '../api/session.ts';
import { Copyable } from './copyable.tsx';
import { Dialog } from './dialog.tsx';
import { dateAndTime } from './format.ts';
import { Icon } from './icon.tsx';
import { useAnswer } from './use-answer.ts';
import { Problem } from './view.tsx';

interface FeedButtonProps {
  readonly of: FeedRequest;
  /** What the feed is of, for people. */
  readonly name: string;
}

/** Makes feeds that need no key, and lists and revokes those of the same watch, scan, label or search. */
export function FeedButton(props: FeedButtonProps) {
  const [isOpen, setOpen] = useState(false);
  if (mayCapture.value !== true) return null;
  return (
    <>
      <button type="button" class="button" aria-label={`Feed of ${props.name}`} onClick={() => setOpen(true)}>
        <Icon name="feed" />
        Feed
      </button>
      {isOpen && <FeedDialog {...props} onClose={() => setOpen(false)} />}
    </>
  );
}

function FeedDialog({ of, name, onClose }: FeedButtonProps & { readonly onClose: () => void }) {
  const [error, setError] = useState<unknown>();
  const { data: feeds = [], reload } = useAnswer<readonly Feed[]>('/feeds?limit=1000');
  const shown = feeds.filter((feed) => sourceOf(feed) === sourceOf(of));
  const attempt = async (work: () => Promise<unknown>) => {
    try {
      await work();
      setError(undefined);
      reload();
    } catch (failure) {
      setError(failure);
    }
  };
  return (
    <Dialog title="Feed" onClose={onClose}>
      <p class="muted">
        Feed readers and chats follow {name} by this URL, as Atom or JSON Feed. Whoever has it reads this feed, and
        nothing else, without a key, until it is revoked.
      </p>
      <button
        type="button"
        class="button primary"
        onClick={() => void attempt(() => call('/feeds', { method: 'POST', body: of }))}
      >
        Make a feed
      </button>
      {error !== undefined && <Problem error={error} />}
      <ul class="share-links" aria-label="Feeds">
        {shown.map((feed) => (
          <li key={feed.id}>
            <AlternateLinks feed={feed} />
            <p>Since {dateAndTime(feed.created_at)}</p>
            <Copyable text={feed.url} />
            <button
              type="button"
              class="button danger"
              onClick={() => void attempt(() => call(`/feeds/${feed.id}`, { method: 'DELETE' }))}
            >
              Revoke
            </button>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

/** Lets browsers find a feed while its URL is shown. */
function AlternateLinks({ feed: { atom, json } }: { readonly feed: Feed }) {
  useEffect(() => {
    const links = [
      ['application/atom+xml', atom],
      ['application/feed+json', json],
    ].map(([type = '', href = '']) => Object.assign(document.createElement('link'), { rel: 'alternate', type, href }));
    document.head.append(...links);
    return () => {
      for (const link of links) link.remove();
    };
  }, [atom, json]);
  return null;
}

/** Returns what a feed is of, as a text. */
function sourceOf({ watch, label, scan, search = {} }: FeedRequest): string {
  const conditions = Object.entries(search).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify([watch, label, scan, conditions]);
}
