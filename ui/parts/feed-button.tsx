import { useEffect, useState } from 'preact/hooks';
import type { Feed, FeedRequest } from '../../src/client/types.ts';
import { mayCapture } from '../api/session.ts';
import { dateAndTime } from './format.ts';
import { Icon } from './icon.tsx';
import { LinksDialog } from './links-dialog.tsx';

interface FeedButtonProps {
  readonly of: FeedRequest;
  /** Name of the source of the feed, for people. */
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
        <span class="wide-only">Feed</span>
      </button>
      {isOpen && <FeedDialog {...props} onClose={() => setOpen(false)} />}
    </>
  );
}

function FeedDialog({ of, name, onClose }: FeedButtonProps & { readonly onClose: () => void }) {
  return (
    <LinksDialog<Feed>
      title="Feed"
      listName="Feeds"
      path="/feeds"
      query="?limit=1000"
      isShown={(feed) => sourceOf(feed) === sourceOf(of)}
      urlOf={({ url }) => url}
      describe={(feed) => (
        <>
          <AlternateLinks feed={feed} />
          <p>Since {dateAndTime(feed.created_at)}</p>
        </>
      )}
      onClose={onClose}
    >
      {(make) => (
        <>
          <p class="muted">
            Feed readers and chats follow {name} by this URL, as Atom or JSON Feed. Whoever has it reads this feed, and
            nothing else, without a key, until it is revoked.
          </p>
          <button type="button" class="button primary" onClick={() => make('/feeds', of)}>
            Make a feed
          </button>
        </>
      )}
    </LinksDialog>
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

/** Returns the source of a feed, as a text. */
function sourceOf({ watch, label, scan, search = {} }: FeedRequest): string {
  const conditions = Object.entries(search).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify([watch, label, scan, conditions]);
}
