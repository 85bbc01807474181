import { useCallback, useEffect, useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { mayCapture } from '../../api/session.ts';
import type { DeadLetter } from '../../api/types.ts';
import { ago, counted, dateAndTime, shortUrl } from '../../parts/format.ts';
import { useAttempt } from '../../parts/use-attempt.ts';
import { Problem } from '../../parts/view.tsx';

const PAGE = 50;

interface DeadLettersProps {
  readonly name: string;
  /** Number of dead letters. They are read again when it changes. */
  readonly count: number;
  readonly onRetried: () => void;
}

/** The messages to a receiver that could not be delivered, oldest first. */
export function DeadLetters({ name, count, onRetried }: DeadLettersProps) {
  const path = `/receivers/${name}/dead`;
  const [letters, setLetters] = useState<readonly DeadLetter[]>();
  const [next, setNext] = useState<string>();
  const { error, attempt } = useAttempt();
  const read = useCallback(
    (from: string, before: readonly DeadLetter[]) =>
      attempt(async () => {
        const page = await call<readonly DeadLetter[]>(from);
        setLetters([...before, ...page.data]);
        setNext(page.next);
      }, before),
    [attempt],
  );
  // A changed count means a changed list.
  useEffect(() => void read(`${path}?limit=${PAGE}`, []), [path, read, count]);
  const retry = (which: string, isGone: (letter: DeadLetter) => boolean) =>
    attempt(async () => {
      await call(`${path}${which}/retry`, { method: 'POST' });
      setLetters((old) => old?.filter((letter) => !isGone(letter)));
      onRetried();
    }, which);
  return (
    <section class="dead-letters" aria-label={`Dead letters of ${name}`} aria-busy={letters === undefined}>
      {error !== undefined && <Problem error={error} />}
      {letters?.length === 0 && <p class="muted">There are none.</p>}
      {mayCapture.value && letters !== undefined && letters.length > 1 && (
        <button type="button" class="button" onClick={() => void retry('', () => true)}>
          Send all again
        </button>
      )}
      <ul>
        {letters?.map((letter) => (
          <li key={letter.id}>
            <div>
              <p>
                {aboutOf(letter)}{' '}
                <span class="muted" title={dateAndTime(letter.at)}>
                  {ago(letter.at)}
                </span>
              </p>
              <p class="error-text">
                {letter.reason} ({counted(letter.attempts, 'attempt')})
              </p>
            </div>
            {mayCapture.value && (
              <button
                type="button"
                class="button"
                aria-label={`Send again: ${aboutOf(letter)}`}
                onClick={() => void retry(`/${letter.id}`, ({ id }) => id === letter.id)}
              >
                Send again
              </button>
            )}
          </li>
        ))}
      </ul>
      {next !== undefined && (
        <button type="button" class="button" onClick={() => void read(next, letters ?? [])}>
          Show more
        </button>
      )}
    </section>
  );
}

/** Returns the subject of a message: `watch changed: shop.example/lamps`. */
function aboutOf({ about, event }: DeadLetter): string {
  const words = about.replaceAll('.', ' ').replaceAll('_', ' ');
  return typeof event.url === 'string' ? `${words}: ${shortUrl(event.url)}` : words;
}
