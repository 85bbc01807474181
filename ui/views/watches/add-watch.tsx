import { useState } from 'preact/hooks';
import { call, queryOf } from '../../api/client.ts';
import type { Watch } from '../../api/types.ts';
import { useDraft, withoutCredentials } from '../../parts/kept.ts';
import { hrefOf } from '../../parts/route.ts';
import { asNamed, SelectField } from '../../parts/select.tsx';
import { useAttempt } from '../../parts/use-attempt.ts';
import { Problem } from '../../parts/view.tsx';
import { INTERVALS, PageField } from './form/watch-fields.tsx';

/** The form that begins to watch a page. */
export function AddWatch({ onAdded }: { readonly onAdded: (watch: Watch) => void }) {
  const [url, setUrl] = useDraft('url', '', withoutCredentials);
  const [every, setEvery] = useState<(typeof INTERVALS)[number]>('1h');
  const { error, isRunning, attempt } = useAttempt();
  const add = async (event: Event) => {
    event.preventDefault();
    await attempt(async () => {
      const { data } = await call<Watch>('/watches', { method: 'POST', body: { url, every } });
      setUrl(() => '');
      onAdded(data);
    });
  };
  return (
    <form class="panel watch-form" onSubmit={(event) => void add(event)}>
      <PageField url={url} onChange={(next) => setUrl(() => next)} />
      <SelectField label="Every" value={every} options={asNamed(INTERVALS)} onChange={setEvery} />
      <button type="submit" class="button primary" disabled={isRunning}>
        Watch
      </button>
      <a class="button" href={hrefOf(`/watches/new${queryOf({ url, every })}`)}>
        Choose values and receivers
      </a>
      {error !== undefined && <Problem error={error} />}
    </form>
  );
}
