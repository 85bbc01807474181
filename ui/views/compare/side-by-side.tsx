import { useRef, useState } from 'preact/hooks';
import { addressOf } from '../../api/address.ts';
import type { DetailedResult } from '../../api/types.ts';
import { dateAndTime } from '../../parts/format.ts';

interface PairProps {
  readonly before: DetailedResult;
  readonly after: DetailedResult;
}

/** Both images, which scroll together. */
export function SideBySide({ before, after }: PairProps) {
  const left = useRef<HTMLElement>(null);
  const right = useRef<HTMLElement>(null);
  const follow = (event: Event & { readonly currentTarget: HTMLElement }) => {
    const { scrollTop } = event.currentTarget;
    for (const { current } of [left, right]) if (current !== event.currentTarget) current?.scrollTo({ top: scrollTop });
  };
  return (
    <div class="compare-pair">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable with the keyboard */}
      <section class="panel canvas" tabIndex={0} aria-label="Before, scrollable" ref={left} onScroll={follow}>
        <Screenshot result={before} />
      </section>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable with the keyboard */}
      <section class="panel canvas" tabIndex={0} aria-label="After, scrollable" ref={right} onScroll={follow}>
        <Screenshot result={after} />
      </section>
    </div>
  );
}

/** Both images, one on top of the other, divided by a line: before on the left of it, after on the right. */
export function Slider({ before, after }: PairProps) {
  const [share, setShare] = useState(50);
  return (
    <div class="compare-slider">
      <label class="field">
        <span>Before ← → After</span>
        <input
          type="range"
          min={0}
          max={100}
          value={share}
          onInput={(event) => setShare(event.currentTarget.valueAsNumber)}
        />
      </label>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable with the keyboard */}
      <section class="panel canvas" tabIndex={0} aria-label="Before and after, scrollable">
        <div class="compare-layers">
          <Screenshot result={before} />
          <div class="compare-after" style={{ clipPath: `inset(0 0 0 ${share}%)` }}>
            <Screenshot result={after} />
          </div>
          <span class="compare-line" style={{ left: `${share}%` }} />
        </div>
      </section>
    </div>
  );
}

function Screenshot({ result }: { readonly result: DetailedResult }) {
  const { screenshot, width, height, probed_at: at } = result;
  return <img src={addressOf(screenshot)} width={width} height={height} alt={`Screenshot of ${dateAndTime(at)}`} />;
}
