import { queryOf } from '../../api/client.ts';
import type { Comparison, DetailedResult } from '../../api/types.ts';
import { integer } from '../../parts/format.ts';
import { useAnswer } from '../../parts/use-answer.ts';
import { Problem } from '../../parts/view.tsx';

type Region = Comparison['regions'][number];
type Side = 'from' | 'to';

const KINDS: Readonly<Record<Region['kind'], string>> = {
  inserted: 'Inserted',
  removed: 'Removed',
  moved: 'Moved',
  edited: 'Edited',
};

/** Both images, with the regions in which the service finds them different. */
export function DifferenceView({ before, after }: { readonly before: DetailedResult; readonly after: DetailedResult }) {
  const { data, error } = useAnswer<Comparison>(`/compare${queryOf({ a: before.id, b: after.id })}`);
  return (
    <div class="compare-difference">
      <div class="compare-tools">
        <p role="status" class="compare-share">
          {data !== undefined ? <Share comparison={data} /> : error === undefined ? 'Comparing …' : ''}
        </p>
        <ul class="compare-kinds">
          {Object.entries(KINDS).map(([kind, name]) => (
            <li key={kind} class={`region-${kind}`}>
              {name}
            </li>
          ))}
        </ul>
      </div>
      {error !== undefined && <Problem error={error} />}
      <div class="compare-pair">
        <Marked result={before} regions={data?.regions ?? []} side="from" name="Before" />
        <Marked result={after} regions={data?.regions ?? []} side="to" name="After" />
      </div>
    </div>
  );
}

interface MarkedProps {
  readonly result: DetailedResult;
  readonly regions: readonly Region[];
  readonly side: Side;
  readonly name: string;
}

function Marked({ result: { screenshot, width, height }, regions, side, name }: MarkedProps) {
  const share = (part: number, whole: number) => `${(100 * part) / whole}%`;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable with the keyboard
    <section class="panel canvas" tabIndex={0} aria-label={`${name}, with what changed, scrollable`}>
      <div class="compare-layers">
        <img src={screenshot} width={width} height={height} alt={name} />
        {regions.map(({ kind, ...places }, at) => {
          const box = places[side];
          if (box === null) return null;
          const style = {
            left: share(box.x, width),
            top: share(box.y, height),
            width: share(box.width, width),
            height: share(box.height, height),
          };
          return <span key={at} class={`region region-${kind}`} style={style} title={KINDS[kind]} />;
        })}
      </div>
    </section>
  );
}

function Share({
  comparison: { share, changed_pixels: changed, regions, truncated },
}: {
  readonly comparison: Comparison;
}) {
  const percent = share * 100;
  const shown = changed === 0 ? '0' : percent < 0.01 ? 'less than 0.01' : percent.toFixed(2);
  return (
    <>
      <strong class="number">{shown} %</strong> of the pixels changed{' '}
      <span class="muted number">
        ({integer(changed)} pixels, {truncated ? 'over ' : ''}
        {integer(regions.length)} {regions.length === 1 ? 'region' : 'regions'})
      </span>
    </>
  );
}
