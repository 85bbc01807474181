import type { ComponentChildren } from 'preact';
import { Dialog } from './dialog.tsx';
import { Problem } from './view.tsx';

interface ConfirmDeletionProps {
  readonly title: string;
  /** Names what is removed. */
  readonly children: ComponentChildren;
  /** Why the last attempt failed. */
  readonly error: unknown;
  readonly onKeep: () => void;
  readonly onDelete: () => void;
}

/** Asks before captures are deleted. */
export function ConfirmDeletion({ title, children, error, onKeep, onDelete }: ConfirmDeletionProps) {
  return (
    <Dialog title={title} onClose={onKeep}>
      <p>{children} This cannot be undone.</p>
      {error !== undefined && <Problem error={error} />}
      <div class="dialog-buttons">
        <button type="button" class="button" onClick={onKeep}>
          Keep
        </button>
        <button type="button" class="button danger" onClick={onDelete}>
          Delete
        </button>
      </div>
    </Dialog>
  );
}
