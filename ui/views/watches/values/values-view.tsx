import { addressOf } from '../../../api/address.ts';
import type { Watch, WatchValues } from '../../../api/types.ts';
import { worded } from '../../../parts/badge.tsx';
import { CopyAsCurl } from '../../../parts/copy-as-curl.tsx';
import { dateAndTime, shortUrl } from '../../../parts/format.ts';
import { hrefOf, path } from '../../../parts/route.ts';
import { useAnswer } from '../../../parts/use-answer.ts';
import { Empty, Problem, View } from '../../../parts/view.tsx';
import { shownValue } from '../shown-value.ts';
import { WatchTells } from '../watch-tells.tsx';
import { LineChart } from './line-chart.tsx';
import { thresholdsOf } from './thresholds.ts';

/** Number of runs that are shown; the file has as many as are asked for. */
const MAX_RUNS = 1000;

/** The values that the runs of a watch have read: a chart for each number, and a table of all. */
export function WatchedValues() {
  const id = /^\/watches\/(\d+)\/values$/.exec(path.value)?.[1] ?? '';
  const valuesPath = `/watches/${id}/values?limit=${MAX_RUNS}`;
  const watch = useAnswer<Watch>(`/watches/${id}`);
  const runs = useAnswer<readonly WatchValues[]>(valuesPath);
  const error = watch.error ?? runs.error;
  const isReady = watch.data !== undefined && runs.data !== undefined;
  const title = watch.data === undefined ? 'Values' : `Values of ${shortUrl(watch.data.url)}`;
  return (
    <View
      title={title}
      class="values-view"
      actions={
        <>
          <a class="button" href={addressOf(`${valuesPath}&format=csv`)} download={`values-${id}.csv`}>
            Download as CSV
          </a>
          <CopyAsCurl requests={() => [{ path: valuesPath }]} />
        </>
      }
    >
      <div class="view-body" aria-busy={!isReady && error === undefined}>
        {error !== undefined && <Problem error={error} />}
        {watch.data !== undefined && runs.data !== undefined && <Shown watch={watch.data} runs={runs.data} />}
      </div>
    </View>
  );
}

function Shown({ watch, runs }: { readonly watch: Watch; readonly runs: readonly WatchValues[] }) {
  const names = Object.keys(watch.values ?? {});
  if (names.length === 0) return <Empty title="The watch reads no values" />;
  return (
    <>
      <WatchTells watch={watch} />
      {names.map((name) => (
        <ValueChart key={name} name={name} runs={runs} when={watch.when} />
      ))}
      <div class="panel values-table">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is scrolled with keys, too */}
        <section class="values-scroll" tabIndex={0} aria-label="Runs">
          <table>
            <thead>
              <tr>
                <th scope="col">Run</th>
                <th scope="col">State</th>
                {names.map((name) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {runs.map((run) => (
                <tr key={run.due} class={run.state}>
                  <td class="number">
                    {run.capture === null ? (
                      dateAndTime(run.at)
                    ) : (
                      <a href={hrefOf(`/results/${run.capture}`)}>{dateAndTime(run.at)}</a>
                    )}
                  </td>
                  <td title={run.reason ?? undefined}>{worded(run.state)}</td>
                  {names.map((name) => (
                    <Cell key={name} read={run.values?.[name]} />
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      </div>
    </>
  );
}

/** A value, and the text that it was read from. */
function Cell({ read }: { readonly read: unknown }) {
  const { value, text } = shownValue(read ?? null);
  return (
    <td>
      {value !== '' && <span class="number">{value}</span>}
      {text !== '' && text !== value && (
        <span class="muted">
          {value === '' ? 'cannot be read: ' : ' '}“{text}”
        </span>
      )}
      {value === '' && text === '' && <span class="muted">–</span>}
    </td>
  );
}

interface ValueChartProps {
  readonly name: string;
  /** Newest first. */
  readonly runs: readonly Pick<WatchValues, 'at' | 'state' | 'values'>[];
  readonly when: unknown;
}

/** The chart of a number; nothing for texts. */
function ValueChart({ name, runs, when }: ValueChartProps) {
  const points = runs.toReversed().map(({ at, state, values }) => {
    const { value, number } = shownValue(values?.[name] ?? null);
    // The page of a failed run is another one.
    return {
      at: Date.parse(at),
      number: state === 'failed' ? undefined : number,
      shown: value,
      isChange: state === 'changed',
    };
  });
  if (!points.some(({ number }) => number !== undefined)) return null;
  const [example] = runs.flatMap(({ values }) => values?.[name]?.value ?? []);
  const format = (number: number) =>
    shownValue(typeof example === 'object' ? { ...example, amount: number, to: null } : number).value;
  return (
    <section class="panel" aria-label={name}>
      <h2>{name}</h2>
      <LineChart name={name} points={points} thresholds={thresholdsOf(when, name)} format={format} />
    </section>
  );
}
