import { useState } from 'preact/hooks';
import { removeCapture } from '../../api/removal.ts';
import { ConfirmDeletion } from '../../parts/confirm-deletion.tsx';
import { Icon } from '../../parts/icon.tsx';
import { goTo } from '../../parts/route.ts';

/** Deletes the capture after a confirmation, and returns to the gallery. */
export function DeleteButton({ id, name }: { readonly id: number; readonly name: string }) {
  const [isAsking, setAsking] = useState(false);
  const [error, setError] = useState<unknown>();
  const remove = async () => {
    try {
      await removeCapture(id);
      goTo('/');
    } catch (failure) {
      setError(failure);
    }
  };
  return (
    <>
      <button type="button" class="button danger" aria-label="Delete the capture" onClick={() => setAsking(true)}>
        <Icon name="trash" />
        <span class="wide-only">Delete</span>
      </button>
      {isAsking && (
        <ConfirmDeletion
          title="Delete the capture?"
          error={error}
          onKeep={() => setAsking(false)}
          onDelete={() => void remove()}
        >
          “{name}”: its image, its HTML snapshot and its record are removed.
        </ConfirmDeletion>
      )}
    </>
  );
}
