import { queryOf } from '../../api/client.ts';
import type { DetailedResult, Result } from '../../api/types.ts';
import { OptionBadges, OutcomeBadge } from '../../parts/badge.tsx';
import { ago, dateAndTime, pageName } from '../../parts/format.ts';
import { Icon } from '../../parts/icon.tsx';
import { hrefOf } from '../../parts/route.ts';
import { Thumbnail } from '../../parts/thumbnail.tsx';
import { useAnswer } from '../../parts/use-answer.ts';
import { Empty, Problem } from '../../parts/view.tsx';

const MAX_SHOWN = 24;

/** Path of the captures to choose from. */
export const NEWEST = `/results${queryOf({ limit: MAX_SHOWN })}`;

interface ChosenProps {
  readonly label: string;
  readonly result: DetailedResult | undefined;
  readonly onClear: () => void;
}

/** One side of the comparison. */
export function Chosen({ label, result, onClear }: ChosenProps) {
  return (
    <div class="panel chosen-side">
      <span class="muted">{label}</span>
      {result === undefined ? (
        <span>None chosen</span>
      ) : (
        <>
          <a href={hrefOf(`/results/${result.id}`)}>{pageName(result)}</a>
          <span class="muted number">{dateAndTime(result.probed_at)}</span>
          <span class="chosen-badges">
            <OptionBadges result={result} max={2} />
          </span>
          <button
            type="button"
            class="button quiet square"
            aria-label={`Choose another capture: ${label.toLowerCase()}`}
            onClick={onClear}
          >
            <Icon name="close" />
          </button>
        </>
      )}
    </div>
  );
}

interface PickerProps {
  /** The capture on the other side. Captures of its URL are offered. */
  readonly near: DetailedResult | undefined;
  readonly what: string;
  readonly onPick: (id: number) => void;
}

/** Captures to choose from: other captures of the URL chosen on the other side, if there are any, else the newest. */
export function Picker({ near, what, onPick }: PickerProps) {
  const ofUrl = useAnswer<readonly Result[]>(
    near === undefined ? undefined : `/results/by-url${queryOf({ url: near.url, limit: MAX_SHOWN })}`,
  );
  const newest = useAnswer<readonly Result[]>(NEWEST);
  const others = (ofUrl.data ?? []).filter(({ id, failed }) => id !== near?.id && !failed);
  const recent = (newest.data ?? []).filter(({ id, failed }) => id !== near?.id && !failed);
  if (newest.error !== undefined) return <Problem error={newest.error} retry={newest.reload} />;
  if (newest.data !== undefined && recent.length === 0) {
    return <Empty title="Nothing to compare">Two captures are needed.</Empty>;
  }
  return (
    <>
      {others.length > 0 && (
        <Choices title={`Choose the capture ${what}: the same URL`} results={others} onPick={onPick} />
      )}
      <Choices
        title={others.length > 0 ? 'Newest captures' : `Choose the capture ${what}`}
        results={recent}
        onPick={onPick}
      />
    </>
  );
}

interface ChoicesProps {
  readonly title: string;
  readonly results: readonly Result[];
  readonly onPick: (id: number) => void;
}

function Choices({ title, results, onPick }: ChoicesProps) {
  return (
    <section class="choices">
      <h2>{title}</h2>
      <ul>
        {results.map((result) => (
          <li key={result.id}>
            <button type="button" class="card" onClick={() => onPick(result.id)}>
              <Thumbnail result={result} width={200} />
              <span class="card-title">{pageName(result)}</span>
              <span class="card-facts">
                <span class="card-host" title={dateAndTime(result.probed_at)}>
                  {ago(result.probed_at)}
                </span>
                <OutcomeBadge result={result} />
              </span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
