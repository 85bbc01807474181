import type { ComponentChildren } from 'preact';
import { type CallOptions, call } from '../api/client.ts';
import { Copyable } from './copyable.tsx';
import { Dialog } from './dialog.tsx';
import { useAnswer } from './use-answer.ts';
import { useAttempt } from './use-attempt.ts';
import { Problem } from './view.tsx';

interface LinksDialogProps<Link> {
  readonly title: string;
  readonly listName: string;
  /** Path of the links; each is revoked at its id below it. */
  readonly path: '/feeds' | '/shares';
  /** Query of the list, with its question mark. */
  readonly query: string;
  /** Returns whether a link of the list belongs to this dialog. */
  readonly isShown: (link: Link) => boolean;
  readonly urlOf: (link: Link) => string;
  /** Returns the text of a link, for people. */
  readonly describe: (link: Link) => ComponentChildren;
  /** Returns the text above the list, and the controls that make a link by POST. */
  readonly children: (make: (path: string, body: object) => void) => ComponentChildren;
  readonly onClose: () => void;
}

/** Makes links that need no key, lists them to copy, and revokes them. */
export function LinksDialog<Link extends { readonly id: string }>(props: LinksDialogProps<Link>) {
  const { title, listName, path, query, isShown, urlOf, describe, children, onClose } = props;
  const { error, attempt } = useAttempt();
  const { data: links = [], reload } = useAnswer<readonly Link[]>(`${path}${query}`);
  const change = async (at: string, options: CallOptions) => {
    if (await attempt(() => call(at, options), at)) reload();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      {children((at, body) => void change(at, { method: 'POST', body }))}
      {error !== undefined && <Problem error={error} />}
      <ul class="share-links" aria-label={listName}>
        {links.filter(isShown).map((link) => (
          <li key={link.id}>
            {describe(link)}
            <Copyable text={urlOf(link)} />
            <button
              type="button"
              class="button danger"
              onClick={() => void change(`${path}/${link.id}`, { method: 'DELETE' })}
            >
              Revoke
            </button>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
