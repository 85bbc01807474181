import { useState } from 'preact/hooks';
import type { DetailedResult } from '../../api/types.ts';
import { CopyAsCurl } from '../../parts/copy-as-curl.tsx';
import { Icon } from '../../parts/icon.tsx';
import { goTo, hrefOf, query } from '../../parts/route.ts';
import { Segments } from '../../parts/segments.tsx';
import { ShareButton } from '../../parts/share-button.tsx';
import { useAnswer } from '../../parts/use-answer.ts';
import { Problem, View } from '../../parts/view.tsx';
import { comparisonPath, readWanted, viewPath, type Wanted } from './address.ts';
import { DifferenceView, type DifferenceViewProps } from './difference-view.tsx';
import { Chosen, NEWEST, Picker } from './picker.tsx';
import { SideBySide, Slider } from './side-by-side.tsx';

const WAYS = [
  ['side', 'Side by side'],
  ['slider', 'Slider'],
  ['difference', 'Difference'],
] as const;
const SHARED = [['page', 'Comparison']] as const;
type Way = (typeof WAYS)[number][0];

/** Compares two captures that the address names: `a` is before, `b` is after. */
export function Compare() {
  const wanted = readWanted(query.value);
  const { a, b, watch } = wanted;
  const before = useAnswer<DetailedResult>(a === '' ? undefined : `/results/${encodeURIComponent(a)}`);
  const after = useAnswer<DetailedResult>(b === '' ? undefined : `/results/${encodeURIComponent(b)}`);
  const [way, setWay] = useState<Way>(watch === '' ? 'side' : 'difference');
  const error = before.error ?? after.error;
  const change = (part: Partial<Wanted>) => goTo(viewPath({ ...wanted, ...part }), { replace: true });
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
            <a class="button" href={hrefOf(viewPath({ ...wanted, a: b, b: a }))}>
              Swap
            </a>
          )}
          {isComplete && <ShareButton id={Number(a)} other={Number(b)} views={SHARED} />}
          {isSettled && (
            <CopyAsCurl
              requests={() => {
                const chosen = [before.data, after.data].filter((each) => each !== undefined);
                if (chosen.length === 0) return [{ path: NEWEST }];
                return [...chosen.flatMap(requestsOf), ...(isComplete ? [{ path: comparisonPath(wanted) }] : [])];
              }}
            />
          )}
        </>
      }
    >
      <div class="view-body">
        {error !== undefined && <Problem error={error} />}
        <div class="compare-chosen">
          <Chosen label="Before" result={before.data} onClear={() => change({ a: '' })} />
          <Icon name="right" />
          <Chosen label="After" result={after.data} onClear={() => change({ b: '' })} />
        </div>
        {before.data !== undefined && after.data !== undefined ? (
          <>
            <Segments label="Way to compare" name="way" choices={WAYS} chosen={way} onChoose={setWay} />
            <Comparison
              way={way}
              wanted={wanted}
              before={before.data}
              after={after.data}
              onIgnore={(ignore) => change({ ignore })}
            />
          </>
        ) : (
          <Picker
            key={a + b}
            near={before.data ?? after.data}
            what={a === '' ? 'before' : 'after'}
            onPick={(id) => change(a === '' ? { a: String(id) } : { b: String(id) })}
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

interface ComparisonProps extends DifferenceViewProps {
  readonly way: Way;
}

function Comparison({ way, ...compared }: ComparisonProps) {
  const { before, after } = compared;
  const without = [before, after].find(({ screenshot, format }) => screenshot === '' || format === 'pdf');
  if (without !== undefined) return <Problem error={new Error(`Capture ${without.id} has no image to compare.`)} />;
  if (way === 'side') return <SideBySide before={before} after={after} />;
  if (way === 'slider') return <Slider before={before} after={after} />;
  return <DifferenceView key={`${before.id} ${after.id}`} {...compared} />;
}
