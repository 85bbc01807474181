import { useState } from 'preact/hooks';
import type { SharedLink, ShareRequest } from '../../src/client/types.ts';
import { queryOf } from '../api/client.ts';
import { mayCapture } from '../api/session.ts';
import { dateAndTime } from './format.ts';
import { Icon } from './icon.tsx';
import { LinksDialog } from './links-dialog.tsx';
import { SelectField } from './select.tsx';

type SharedView = NonNullable<ShareRequest['view']>;

const LIVES = [
  ['1d', '1 day'],
  ['7d', '7 days'],
  ['30d', '30 days'],
] as const;

interface ShareButtonProps {
  readonly id: number;
  /** A second capture, to share the comparison. */
  readonly other?: number;
  /** Views that can be shared, with a name for people. */
  readonly views: readonly (readonly [view: SharedView, name: string])[];
}

/** Makes links that need no key, and lists and revokes those of a capture. */
export function ShareButton(props: ShareButtonProps) {
  const [isOpen, setOpen] = useState(false);
  if (mayCapture.value !== true) return null;
  return (
    <>
      <button type="button" class="button" aria-label="Share" onClick={() => setOpen(true)}>
        <Icon name="share" />
        <span class="wide-only">Share</span>
      </button>
      {isOpen && <ShareDialog {...props} onClose={() => setOpen(false)} />}
    </>
  );
}

function ShareDialog({ id, other, views, onClose }: ShareButtonProps & { readonly onClose: () => void }) {
  const [view, setView] = useState<SharedView>('page');
  const [expires, setExpires] = useState<(typeof LIVES)[number][0]>('7d');
  const body = { view, expires, ...(other === undefined ? {} : { with: other }) };
  const nameOf = (wanted: SharedView) => views.find(([each]) => each === wanted)?.[1] ?? wanted;
  return (
    <LinksDialog<SharedLink>
      title="Share"
      listName="Links"
      path="/shares"
      query={queryOf({ capture: id })}
      isShown={(link) => (link.with ?? undefined) === other}
      urlOf={({ link }) => link}
      describe={(link) => (
        <p>
          {nameOf(link.view)}, until {dateAndTime(link.expires_at)}
        </p>
      )}
      onClose={onClose}
    >
      {(make) => (
        <>
          <p class="muted">
            Whoever has the link sees this, and nothing else, without a key, until it expires or is revoked.
          </p>
          <form
            class="share-form"
            onSubmit={(event) => {
              event.preventDefault();
              make(`/screenshot/${id}/share`, body);
            }}
          >
            {views.length > 1 && <SelectField label="Show" value={view} options={views} onChange={setView} />}
            <SelectField label="For" value={expires} options={LIVES} onChange={setExpires} />
            <button type="submit" class="button primary">
              Make a link
            </button>
          </form>
        </>
      )}
    </LinksDialog>
  );
}
