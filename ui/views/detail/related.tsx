import { queryOf } from '../../api/client.ts';
import type { DetailedResult, Result, SimilarResult } from '../../api/types.ts';
import { OptionBadges, OutcomeBadge } from '../../parts/badge.tsx';
import { ago, dateAndTime, pageName } from '../../parts/format.ts';
import { Icon } from '../../parts/icon.tsx';
import { hrefOf } from '../../parts/route.ts';
import { Thumbnail } from '../../parts/thumbnail.tsx';
import { useAnswer } from '../../parts/use-answer.ts';

const MAX_SHOWN = 12;

export function historyPath(url: string): string {
  return `/results/by-url${queryOf({ url, limit: MAX_SHOWN + 1 })}`;
}

export function similarPath(id: number): string {
  return `/results/similar/${id}${queryOf({ distance: 10, limit: MAX_SHOWN })}`;
}

/** Other captures of the same URL, and visually similar captures. */
export function Related({ result }: { readonly result: DetailedResult }) {
  const { id, url, perception_hash: hash } = result;
  const { data: history = [] } = useAnswer<readonly Result[]>(historyPath(url));
  const { data: similar = [] } = useAnswer<readonly SimilarResult[]>(hash === null ? undefined : similarPath(id));
  const others = history.filter((each) => each.id !== id).slice(0, MAX_SHOWN);
  return (
    <>
      <section class="panel">
        <h2>History of this URL</h2>
        {others.length === 0 ? (
          <p class="muted">This is the only capture.</p>
        ) : (
          <Links to={id} results={others} nameOf={nameByTime} />
        )}
      </section>
      {hash !== null && (
        <section class="panel">
          <h2>Visually similar</h2>
          {similar.length === 0 ? (
            <p class="muted">There are no visually similar captures.</p>
          ) : (
            <Links to={id} results={similar} nameOf={pageName} />
          )}
        </section>
      )}
    </>
  );
}

const nameByTime = ({ probed_at: at }: Result) => dateAndTime(at);

interface LinksProps {
  readonly to: number;
  readonly results: readonly Result[];
  readonly nameOf: (result: Result) => string;
}

function Links({ to, results, nameOf }: LinksProps) {
  return (
    <ul class="related">
      {results.map((result) => (
        <li key={result.id}>
          <a href={hrefOf(`/results/${result.id}`)}>
            <Thumbnail result={result} width={64} />
            <span class="related-text">
              <span class="related-name">{nameOf(result)}</span>
              <span class="muted">{ago(result.probed_at)}</span>
            </span>
          </a>
          <span class="related-badges">
            <OptionBadges result={result} max={1} />
            <OutcomeBadge result={result} />
          </span>
          <a
            class="button quiet square"
            href={hrefOf(`/compare${queryOf({ a: result.id, b: to })}`)}
            aria-label={`Compare with ${nameOf(result)}`}
            title="Compare"
          >
            <Icon name="compare" />
          </a>
        </li>
      ))}
    </ul>
  );
}
