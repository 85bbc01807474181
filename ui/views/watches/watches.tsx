import { useRef } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { mayCapture } from '../../api/session.ts';
import { CopyAsCurl } from '../../parts/copy-as-curl.tsx';
import { useAttempt } from '../../parts/use-attempt.ts';
import { usePlace } from '../../parts/use-place.ts';
import { Empty, Problem, View } from '../../parts/view.tsx';
import { AddWatch } from './add-watch.tsx';
import { MAX_RUNS, useWatches, WATCHES } from './use-watches.ts';
import { WatchRow } from './watch-row.tsx';

/** The watches of the caller, with what their runs found. */
export function Watches() {
  const { watches, error, reload, refresh, add, remove, more } = useWatches();
  const { error: failure, attempt } = useAttempt();
  const scroller = useRef<HTMLElement>(null);
  const keepPlace = usePlace(scroller, { of: WATCHES, isReady: watches !== undefined, loadMore: more });
  const perform = (id: number, name: string) =>
    attempt(async () => {
      await call(`/watches/${id}/${name}`, { method: 'POST' });
      await refresh(id);
    }, `${id} ${name}`);
  const removeWatch = async (id: number) => {
    await call(`/watches/${id}`, { method: 'DELETE' });
    remove(id);
  };
  return (
    <View
      title="Watches"
      class="watches"
      scroller={scroller}
      onMove={keepPlace}
      actions={<CopyAsCurl requests={() => [{ path: WATCHES }]} />}
    >
      <div class="view-body">
        {mayCapture.value && <AddWatch onAdded={add} />}
        {error !== undefined && <Problem error={error} retry={reload} />}
        {failure !== undefined && <Problem error={failure} />}
        {watches?.length === 0 && <Empty title="No page is watched" />}
        {watches?.map((watch) => (
          <WatchRow
            key={watch.id}
            watch={watch}
            maxRuns={MAX_RUNS}
            onCommand={(name) => void perform(watch.id, name)}
            onDelete={() => removeWatch(watch.id)}
          />
        ))}
        {more !== undefined && (
          <button type="button" class="button watch-more" onClick={more}>
            Show more watches
          </button>
        )}
      </div>
    </View>
  );
}
