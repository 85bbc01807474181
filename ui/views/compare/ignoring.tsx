import { call } from '../../api/client.ts';
import { mayCapture } from '../../api/session.ts';
import type { Watch } from '../../api/types.ts';
import { shortUrl } from '../../parts/format.ts';
import { Ignored } from '../../parts/ignored.tsx';
import { useAnswer } from '../../parts/use-answer.ts';
import { useAttempt } from '../../parts/use-attempt.ts';
import { Problem } from '../../parts/view.tsx';

interface IgnoringProps {
  readonly ignored: readonly string[];
  /** Id of the watch that made the captures; empty without one. */
  readonly watch: string;
  readonly onPoint: (each: string | undefined) => void;
  readonly onRemove: (each: string) => void;
}

/** The entries that this comparison ignores, with a button that adds them to the watch of the captures. */
export function Ignoring({ ignored, watch: id, onPoint, onRemove }: IgnoringProps) {
  const { data: watch, error, reload } = useAnswer<Watch>(id === '' ? undefined : `/watches/${encodeURIComponent(id)}`);
  const { error: failure, attempt } = useAttempt();
  const added = watch === undefined ? [] : ignored.filter((each) => !watch.ignore.includes(each));
  const save = () =>
    attempt(async () => {
      if (watch === undefined) return;
      // It may have been changed in another view.
      const { data: now } = await call<Watch>(`/watches/${watch.id}`);
      const ignore = [...new Set([...now.ignore, ...added])];
      await call(`/watches/${watch.id}`, { method: 'PATCH', body: { ignore } });
      reload();
    });
  if (ignored.length === 0 && error === undefined) return null;
  return (
    <section class="panel ignoring" aria-label="What is ignored">
      <h2>Ignored</h2>
      <Ignored ignored={ignored} onPoint={onPoint} onRemove={onRemove} />
      {added.length > 0 && mayCapture.value && (
        <button type="button" class="button primary" onClick={() => void save()}>
          Ignore in the watch
        </button>
      )}
      <p class="muted" role="status">
        {watch !== undefined && added.length === 0 && ignored.length > 0
          ? `The watch of ${shortUrl(watch.url)} ignores this.`
          : ''}
      </p>
      {(failure ?? error) !== undefined && <Problem error={failure ?? error} />}
    </section>
  );
}
