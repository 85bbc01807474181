import { useState } from 'preact/hooks';
import { queryOf } from '../../api/client.ts';
import type { DetailedResult } from '../../api/types.ts';
import { CopyAsCurl } from '../../parts/copy-as-curl.tsx';
import { Icon } from '../../parts/icon.tsx';
import { goTo, hrefOf, query } from '../../parts/route.ts';
import { useAnswer } from '../../parts/use-answer.ts';
import { Problem, View } from '../../parts/view.tsx';
import { DifferenceView } from './difference-view.tsx';
import { Chosen, NEWEST, Picker } from './picker.tsx';
import { SideBySide, Slider } from './side-by-side.tsx';

const WAYS = [
  ['side', 'Side by side'],
  ['slider', 'Slider'],
  ['difference', 'Difference'],
] as const;
type Way = (typeof WAYS)[number][0];

/** Compares two captures that the address names: `a` is before, `b` is after. */
export function Compare() {
  const a = query.value.get('a') ?? '';
  const b = query.value.get('b') ?? '';
  const before = useAnswer<DetailedResult>(a === '' ? undefined : `/results/${encodeURIComponent(a)}`);
  const after = useAnswer<DetailedResult>(b === '' ? undefined : `/results/${encodeURIComponent(b)}`);
  const [way, setWay] = useState<Way>('side');
  const error = before.error ?? after.error;
  const choose = (ids: { a: string; b: string }) => goTo(`/compare${queryOf(ids)}`, { replace: true });
  const isComplete = before.data !== undefined && after.data !== undefined;
  // Before, the requests of a capture are not known.
  const isSettled = isKnown(a, before) && isKnown(b, after);
  return (
    <View
      title="Compare"
      class="compare"
      actions={
        <>
          {isComplete && (
            <a class="button" href={hrefOf(`/compare${queryOf({ a: b, b: a })}`)}>
              Swap
            </a>
          )}
          {isSettled && (
            <CopyAsCurl
              requests={() => {
                const chosen = [before.data, after.data].filter((each) => each !== undefined);
                if (chosen.length === 0) return [{ path: NEWEST }];
                return [
                  ...chosen.flatMap(requestsOf),
                  ...(isComplete ? [{ path: `/compare${queryOf({ a, b })}` }] : []),
                ];
              }}
            />
          )}
        </>
      }
    >
      <div class="view-body">
        {error !== undefined && <Problem error={error} />}
        <div class="compare-chosen">
          <Chosen label="Before" result={before.data} onClear={() => choose({ a: '', b })} />
          <Icon name="right" />
          <Chosen label="After" result={after.data} onClear={() => choose({ a, b: '' })} />
        </div>
        {before.data !== undefined && after.data !== undefined ? (
          <>
            <fieldset class="segments" aria-label="Way to compare">
              {WAYS.map(([value, label]) => (
                <label key={value}>
                  <input type="radio" name="way" checked={way === value} onChange={() => setWay(value)} />
                  {label}
                </label>
              ))}
            </fieldset>
            <Comparison way={way} before={before.data} after={after.data} />
          </>
        ) : (
          <Picker
            key={a + b}
            near={before.data ?? after.data}
            what={a === '' ? 'before' : 'after'}
            onPick={(id) => choose(a === '' ? { a: String(id), b } : { a, b: String(id) })}
          />
        )}
      </div>
    </View>
  );
}

/** Whether what is known of a capture stays so: it was read, could not be read, or was not chosen. */
function isKnown(id: string, { data, error }: { readonly data?: DetailedResult; readonly error?: unknown }): boolean {
  return id === '' || data !== undefined || error !== undefined;
}

function requestsOf({ id, screenshot, format }: DetailedResult) {
  return [{ path: `/results/${id}` }, ...(screenshot === '' ? [] : [{ path: screenshot, file: `${id}.${format}` }])];
}

interface ComparisonProps {
  readonly way: Way;
  readonly before: DetailedResult;
  readonly after: DetailedResult;
}

function Comparison({ way, before, after }: ComparisonProps) {
  const without = [before, after].find(({ screenshot, format }) => screenshot === '' || format === 'pdf');
  if (without !== undefined) return <Problem error={new Error(`Capture ${without.id} has no image to compare.`)} />;
  if (way === 'side') return <SideBySide before={before} after={after} />;
  if (way === 'slider') return <Slider before={before} after={after} />;
  return <DifferenceView before={before} after={after} />;
}
