import { useCallback, useEffect, useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { subscribe } from '../../api/events.ts';
import type { Watch } from '../../api/types.ts';
import { useAnswer } from '../../parts/use-answer.ts';
import { Empty, Problem, View } from '../../parts/view.tsx';
import { AddWatch } from './add-watch.tsx';
import { WatchRow } from './watch-row.tsx';
import './watches.css';

const MAX_SHOWN = 200;

/** The watches of the caller, with what their runs found. */
export function Watches() {
  const { data: watches, error, reload } = useAnswer<readonly Watch[]>(`/watches?limit=${MAX_SHOWN}`);
  const [failure, setFailure] = useState<unknown>();
  useEffect(() => subscribe(({ type }) => type === 'watch.run' && reload()), [reload]);
  const perform = useCallback(
    async (path: string, method: 'POST' | 'DELETE') => {
      try {
        await call(path, { method });
        setFailure(undefined);
        reload();
      } catch (thrown) {
        setFailure(thrown);
      }
    },
    [reload],
  );
  return (
    <View title="Watches" class="watches">
      <div class="view-body">
        <AddWatch onAdded={reload} />
        {error !== undefined && <Problem error={error} retry={reload} />}
        {failure !== undefined && <Problem error={failure} />}
        {watches?.length === 0 && <Empty title="No page is watched" />}
        {watches?.map((watch) => (
          <WatchRow key={watch.id} watch={watch} onCommand={(path, method) => void perform(path, method)} />
        ))}
        {watches?.length === MAX_SHOWN && <p class="muted">The first {MAX_SHOWN} watches are shown.</p>}
      </div>
    </View>
  );
}
