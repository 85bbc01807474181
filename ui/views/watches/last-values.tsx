import type { Watch } from '../../api/types.ts';
import { hrefOf } from '../../parts/route.ts';
import { shownValue } from './shown-value.ts';

/** The values that the newest run with values has read, as a link to their history. */
export function LastValues({
  watch: { id, url, values, recent_runs: runs = [], last_run: last },
}: {
  readonly watch: Watch;
}) {
  const read = [last, ...runs].find((run) => run?.values != null && run.state !== 'failed')?.values ?? {};
  return (
    <p class="last-values">
      {Object.keys(values ?? {}).map((name) => (
        <span key={name}>
          {name} <b class="number">{shownValue(read[name] ?? null).value || '\u2013'}</b>
        </span>
      ))}
      <a
        href={hrefOf(`/watches/${id}/values`)}
        data-place={`${id} values`}
        aria-label={`History of the values of ${url}`}
      >
        History
      </a>
    </p>
  );
}
