import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Dialog } from './dialog.tsx';
import { useAttempt } from './use-attempt.ts';
import { Problem } from './view.tsx';

interface DeleteButtonProps {
  /** Accessible name of the button, where "Delete" does not say what. */
  readonly label?: string;
  /** Content of the button. @default 'Delete' */
  readonly face?: ComponentChildren;
  /** Title of the dialog. */
  readonly title: string;
  /** Names what is removed. */
  readonly children: ComponentChildren;
  readonly onDelete: () => Promise<unknown>;
}

/** Deletes after a confirmation. The dialog stays open with the reason when this fails. */
export function DeleteButton({ label, face = 'Delete', title, children, onDelete }: DeleteButtonProps) {
  const [isAsking, setAsking] = useState(false);
  const { error, attempt } = useAttempt();
  const keep = () => setAsking(false);
  const remove = async () => {
    if (await attempt(onDelete)) keep();
  };
  return (
    <>
      <button type="button" class="button danger" aria-label={label} onClick={() => setAsking(true)}>
        {face}
      </button>
      {isAsking && (
        <Dialog title={title} onClose={keep}>
          <p>{children} This cannot be undone.</p>
          {error !== undefined && <Problem error={error} />}
          <div class="dialog-buttons">
            <button type="button" class="button" onClick={keep}>
              Keep
            </button>
            <button type="button" class="button danger" onClick={() => void remove()}>
              Delete
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}
