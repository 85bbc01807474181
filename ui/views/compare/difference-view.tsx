import { useRef, useState } from 'preact/hooks';
import type { Box, Comparison, DetailedResult } from '../../api/types.ts';
import { counted, integer } from '../../parts/format.ts';
import { ofSelector, placesOf, selectorOf } from '../../parts/ignore-places.ts';
import { useAnswer } from '../../parts/use-answer.ts';
import { usePage } from '../../parts/use-page.ts';
import { Problem } from '../../parts/view.tsx';
import { comparisonPath, type Wanted } from './address.ts';
import { ElementChanges } from './element-changes.tsx';
import { Ignoring } from './ignoring.tsx';
import { KINDS, Marked } from './marked.tsx';
import { FactChanges, LinkChanges, TextChanges } from './word-changes.tsx';

export interface DifferenceViewProps {
  readonly wanted: Wanted;
  readonly before: DetailedResult;
  readonly after: DetailedResult;
  readonly onIgnore: (ignored: readonly string[]) => void;
}

interface Pointed {
  readonly from: readonly Box[];
  readonly to: readonly Box[];
}
const NOTHING: Pointed = { from: [], to: [] };

/** Both images with the regions in which they differ, and the elements, words and links that differ. */
export function DifferenceView({ wanted, before, after, onIgnore }: DifferenceViewProps) {
  const { ignore, watch } = wanted;
  const { data: fresh, error } = useAnswer<Comparison>(comparisonPath(wanted));
  // The comparison that was shown stays until the next one is there.
  const last = useRef<Comparison>(undefined);
  last.current = error === undefined ? (fresh ?? last.current) : undefined;
  const data = last.current;
  const [pointed, setPointed] = useState(NOTHING);
  // Element maps tell where ignored elements are.
  const needsMaps = ignore.some((each) => selectorOf(each) !== undefined);
  const pages = {
    from: usePage(needsMaps ? before.id : undefined).page,
    to: usePage(needsMaps ? after.id : undefined).page,
  };
  const places = (each: string): Pointed => ({ from: placesOf(each, pages.from), to: placesOf(each, pages.to) });
  const ignored = ignore.map(places);
  const marks = (side: keyof Pointed) => ({
    regions: data?.regions ?? [],
    side,
    ignored: ignored.flatMap((each) => each[side]),
    lit: pointed[side],
  });
  const pointAtIgnored = (each: string | undefined) => setPointed(each === undefined ? NOTHING : places(each));
  return (
    <div class="compare-difference">
      <div class="compare-tools">
        <p role="status" class="compare-share">
          {fresh !== undefined ? <Share comparison={fresh} /> : error === undefined ? 'Comparing …' : ''}
        </p>
        <ul class="compare-kinds" aria-label="Colours">
          {Object.entries(KINDS).map(([kind, name]) => (
            <li key={kind} class={`region-${kind}`}>
              {name}
            </li>
          ))}
          {ignore.length > 0 && <li class="mark-ignored">Ignored</li>}
        </ul>
      </div>
      {error !== undefined && <Problem error={error} />}
      <div class="compare-columns">
        <div class="compare-pair">
          <Marked result={before} name="Before" {...marks('from')} />
          <Marked result={after} name="After" {...marks('to')} />
        </div>
        <div class="compare-side">
          <Ignoring
            ignored={ignore}
            watch={watch}
            onPoint={pointAtIgnored}
            onRemove={(each) => {
              setPointed(NOTHING);
              onIgnore(ignore.filter((other) => other !== each));
            }}
          />
          {data !== undefined && (
            <Changes
              comparison={data}
              onPoint={setPointed}
              onIgnore={(selector) => {
                setPointed(NOTHING);
                onIgnore([...ignore, ofSelector(selector)]);
              }}
            />
          )}
        </div>
      </div>
    </div>
  );
}

interface ChangesProps {
  readonly comparison: Comparison;
  readonly onPoint: (pointed: Pointed) => void;
  readonly onIgnore: (selector: string) => void;
}

/** Differences besides those of the images. Facts that one of the captures lacks are left out. */
function Changes({ comparison, onPoint, onIgnore }: ChangesProps) {
  const { title, response_code: status, verdict, elements, text, links } = comparison;
  const boxes = (box: Box | null) => (box === null ? [] : [box]);
  return (
    <>
      {(title ?? status ?? verdict) !== null && (
        <section class="panel">
          <h2>Page</h2>
          <FactChanges comparison={comparison} />
        </section>
      )}
      <section class="panel">
        <h2>Elements</h2>
        {elements === null ? (
          <p class="muted">One of the captures has no element map.</p>
        ) : (
          <ElementChanges
            elements={elements}
            onPoint={(change) =>
              onPoint(change === undefined ? NOTHING : { from: boxes(change.from), to: boxes(change.to) })
            }
            onIgnore={onIgnore}
          />
        )}
      </section>
      {text !== null && (
        <section class="panel">
          <h2>Text</h2>
          <TextChanges text={text} />
        </section>
      )}
      {links !== null && (
        <section class="panel">
          <h2>Links</h2>
          <LinkChanges links={links} />
        </section>
      )}
    </>
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
        {counted(regions.length, 'region')})
      </span>
    </>
  );
}
