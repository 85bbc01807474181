import type { BatchLine, Result } from '../../api/types.ts';
import { Badge, OutcomeBadge } from '../../parts/badge.tsx';
import { integer, shortUrl } from '../../parts/format.ts';
import { odd } from '../../parts/looks.ts';
import { hrefOf } from '../../parts/route.ts';
import { Thumbnail } from '../../parts/thumbnail.tsx';
import { Problem } from '../../parts/view.tsx';
import type { Batch } from './use-batch.ts';

const THUMBNAIL = 160;

/** The captures of a batch: their number, and each with its screenshot. Those that look unlike most are marked. */
export function BatchProgress({ batch, onCancel }: { readonly batch: Batch; readonly onCancel: () => void }) {
  const { urls, outcomes, isRunning, error } = batch;
  const stored = [...outcomes.values()].flatMap(({ result }) => (result === null || result.failed ? [] : [result]));
  const failed = outcomes.size - stored.length;
  const different = new Set(isRunning ? [] : odd(stored).map(({ id }) => id));
  return (
    <section class="panel capture-run" aria-label="Progress">
      <p role="status">
        <strong class="number">
          {integer(outcomes.size)} of {integer(urls.length)} done
        </strong>
        {failed > 0 && `, ${integer(failed)} failed`}
        {different.size > 0 && `, ${integer(different.size)} ${different.size === 1 ? 'looks' : 'look'} different`}
      </p>
      <progress max={urls.length} value={outcomes.size} aria-label="Captures done" />
      {error !== undefined && <Problem error={error} />}
      {isRunning && (
        <button type="button" class="button" onClick={onCancel}>
          Cancel
        </button>
      )}
      <ul class="batch-list">
        {urls.map((url, at) => (
          <li key={`${at} ${url}`}>
            <Row url={url} line={outcomes.get(at)} isDifferent={different.has(outcomes.get(at)?.result?.id ?? 0)} />
          </li>
        ))}
      </ul>
    </section>
  );
}

interface RowProps {
  readonly url: string;
  readonly line: BatchLine | undefined;
  readonly isDifferent: boolean;
}

function Row({ url, line, isDifferent }: RowProps) {
  const name = <span class="batch-url">{shortUrl(url)}</span>;
  if (line === undefined) {
    return (
      <div class="batch-row">
        <span class="batch-blank" />
        <span class="batch-text">
          {name}
          <span class="muted">waiting or running</span>
        </span>
      </div>
    );
  }
  const { result, error } = line;
  if (result === null) {
    return (
      <div class="batch-row">
        <span class="batch-blank" />
        <span class="batch-text">
          {name}
          <span class="error-text">{error}</span>
        </span>
      </div>
    );
  }
  return <Done result={result} name={name} isDifferent={isDifferent} />;
}

function Done({
  result,
  name,
  isDifferent,
}: {
  readonly result: Result;
  readonly name: preact.ComponentChildren;
  readonly isDifferent: boolean;
}) {
  return (
    <div class="batch-row">
      <a href={hrefOf(`/results/${result.id}`)} aria-label={`Open the capture of ${result.url}`}>
        <Thumbnail result={result} width={THUMBNAIL} />
      </a>
      <span class="batch-text">
        {name}
        <span class="batch-facts">
          <OutcomeBadge result={result} />
          {isDifferent && <Badge tone="warn">looks different</Badge>}
          {result.failed && <span class="error-text">{result.failed_reason}</span>}
        </span>
        <a href={hrefOf(`/capture?from=${result.id}`)}>Again</a>
      </span>
    </div>
  );
}
