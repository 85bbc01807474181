import { queryOf } from '../../api/client.ts';
import { removeCapture } from '../../api/removal.ts';
import type { Result } from '../../api/types.ts';
import { DeleteButton } from '../../parts/delete-button.tsx';
import { integer } from '../../parts/format.ts';
import { hrefOf } from '../../parts/route.ts';

interface SelectionProps {
  /** In the order in which they were selected. */
  readonly selected: readonly Result[];
  /** Undefined without the right to label. */
  readonly onLabel: (() => void) | undefined;
  /** Called when all of them were deleted. */
  readonly onDeleted: () => void;
  readonly onClear: () => void;
}

/** Actions on the selected captures. */
export function Selection({ selected, onLabel, onDeleted, onClear }: SelectionProps) {
  const [a, b] = selected;
  const remove = async () => {
    for (const { id } of selected) await removeCapture(id);
    onDeleted();
  };
  return (
    <div class="choice">
      <span role="status">{integer(selected.length)} selected</span>
      {selected.length === 2 && (
        <a class="button primary" href={hrefOf(`/compare${queryOf({ a: a?.id, b: b?.id })}`)}>
          Compare
        </a>
      )}
      {onLabel !== undefined && (
        <button type="button" class="button" title="Label (l)" onClick={onLabel}>
          Label
        </button>
      )}
      <button type="button" class="button" onClick={() => download(selected)}>
        Export
      </button>
      <DeleteButton title={`Delete ${integer(selected.length)} captures?`} onDelete={remove}>
        Their images, HTML snapshots and records are removed.
      </DeleteButton>
      <button type="button" class="button quiet" onClick={onClear}>
        Clear
      </button>
    </div>
  );
}

/** Saves the records as lines of JSON, in the form of `GET /results/export`. */
function download(results: readonly Result[]): void {
  const lines = results.map((result) => `${JSON.stringify(result)}\n`);
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob(lines, { type: 'application/x-ndjson' }));
  link.download = 'captures.jsonl';
  link.click();
  URL.revokeObjectURL(link.href);
}
