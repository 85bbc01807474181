import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Icon } from '../../parts/icon.tsx';
import { goTo } from '../../parts/route.ts';
import { Problem } from '../../parts/view.tsx';

/** Deletes the capture after a confirmation, and returns to the gallery. */
export function DeleteButton({ id, name }: { readonly id: number; readonly name: string }) {
  const [isAsking, setAsking] = useState(false);
  const [error, setError] = useState<unknown>();
  const remove = async () => {
    try {
      await call(`/screenshot/${id}`, { method: 'DELETE' });
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
        <Dialog title="Delete the capture?" onClose={() => setAsking(false)}>
          <p>“{name}”: its image, its HTML snapshot and its record are removed. This cannot be undone.</p>
          {error !== undefined && <Problem error={error} />}
          <div class="dialog-buttons">
            <button type="button" class="button" onClick={() => setAsking(false)}>
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
