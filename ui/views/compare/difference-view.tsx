import { useEffect, useRef, useState } from 'preact/hooks';
import type { DetailedResult } from '../../api/types.ts';
import { integer } from '../../parts/format.ts';
import { Problem } from '../../parts/view.tsx';
import { type Difference, drawDifference, loadImage } from './difference.ts';

/** Default tolerance of a colour channel, 0 to 255. Smaller differences come from the encoding of an image. */
const DEFAULT_TOLERANCE = 12;

/** The images on top of each other, with changed pixels highlighted. */
export function DifferenceView({ before, after }: { readonly before: DetailedResult; readonly after: DetailedResult }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [tolerance, setTolerance] = useState(DEFAULT_TOLERANCE);
  const [found, setFound] = useState<Difference>();
  const [error, setError] = useState<unknown>();
  const { screenshot: a } = before;
  const { screenshot: b } = after;
  useEffect(() => {
    const abort = new AbortController();
    const { signal } = abort;
    setFound(undefined);
    setError(undefined);
    Promise.all([loadImage(a, signal), loadImage(b, signal)])
      .then((images) =>
        canvas.current === null ? undefined : drawDifference(canvas.current, images, tolerance, signal),
      )
      .then(setFound)
      .catch((failure: unknown) => !signal.aborted && setError(failure));
    return () => abort.abort();
  }, [a, b, tolerance]);
  return (
    <div class="compare-difference">
      <div class="compare-tools">
        <p role="status" class="compare-share">
          {found === undefined ? 'Comparing …' : <Share difference={found} />}
        </p>
        <label class="field">
          <span>Tolerance: {tolerance} of 255</span>
          <input
            type="range"
            min={0}
            max={128}
            value={tolerance}
            onChange={(event) => setTolerance(event.currentTarget.valueAsNumber)}
          />
        </label>
      </div>
      {error !== undefined && <Problem error={error} />}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable with the keyboard */}
      <section class="panel canvas" tabIndex={0} aria-label="Difference, scrollable">
        <canvas ref={canvas} role="img" aria-label="Changed pixels are highlighted" />
      </section>
    </div>
  );
}

function Share({ difference: { changed, common, onlyBefore, onlyAfter } }: { readonly difference: Difference }) {
  const percent = common === 0 ? 0 : (changed / common) * 100;
  const shown = changed === 0 ? '0' : percent < 0.01 ? 'less than 0.01' : percent.toFixed(2);
  const hasRest = onlyBefore + onlyAfter > 0;
  return (
    <>
      <strong class="number">{shown} %</strong> of {hasRest ? 'the common area' : 'the pixels'} changed{' '}
      <span class="muted number">
        ({integer(changed)} of {integer(common)} pixels)
      </span>
      {onlyBefore > 0 && <Rest of={onlyBefore} total={common + onlyBefore} name="before" />}
      {onlyAfter > 0 && <Rest of={onlyAfter} total={common + onlyAfter} name="after" />}
    </>
  );
}

/** The part of one image that the other one is too small for. */
function Rest({ of, total, name }: { readonly of: number; readonly total: number; readonly name: string }) {
  const percent = (of / total) * 100;
  return (
    <span class="compare-rest number">
      {' '}
      · {percent < 1 ? 'less than 1' : Math.round(percent)} % of “{name}” has no counterpart
    </span>
  );
}
