import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { queryOf } from '../../api/client.ts';
import { CopyAsCurl } from '../../parts/copy-as-curl.tsx';
import { integer } from '../../parts/format.ts';
import { Icon } from '../../parts/icon.tsx';
import { isTyping } from '../../parts/keyboard.ts';
import { goTo, hrefOf, query } from '../../parts/route.ts';
import { Empty, Problem, View } from '../../parts/view.tsx';
import { Card } from './card.tsx';
import { FilterBar } from './filter-bar.tsx';
import { countOf, type Filters, listPath, readFilters } from './filters.ts';
import { useGrid } from './use-grid.ts';
import { useResults } from './use-results.ts';

/** Maximum distance from the top, in pixels, at which new captures are inserted. */
const AT_TOP = 8;

export function Gallery() {
  const search = query.value.toString();
  const filters = useMemo(() => readFilters(new URLSearchParams(search)), [search]);
  const scroller = useRef<HTMLDivElement>(null);
  const isScrolled = useCallback(() => (scroller.current?.scrollTop ?? 0) > AT_TOP, []);
  const results = useResults(filters, isScrolled);
  const { items, state, error, isComplete, waiting } = results;
  const grid = useGrid(scroller, items.length);
  const [chosen, setChosen] = useState<readonly number[]>([]);

  useEffect(() => {
    const rowsLeft = (items.length - grid.end) / grid.columns;
    if (state === 'ready' && !isComplete && rowsLeft < 4) results.loadMore();
  });
  useEffect(() => scroller.current?.scrollTo({ top: 0 }), [search]);

  const choose = (id: number) =>
    setChosen((ids) => (ids.includes(id) ? ids.filter((each) => each !== id) : [...ids.slice(-1), id]));
  const { move, focused } = useArrowKeys(scroller, grid, items.length);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'x' && !isTyping(event)) {
      const item = items[focusedIndex(scroller.current)];
      if (item !== undefined) choose(item.id);
    } else move(event);
  };
  const onScroll = () => {
    grid.update();
    if (waiting > 0 && !isScrolled()) results.release();
  };
  const showWaiting = () => {
    scroller.current?.scrollTo({ top: 0 });
    results.release();
  };
  const change = (next: Filters) => goTo(`/${queryOf({ ...next })}`, { replace: true });

  return (
    <View
      title="Gallery"
      class="gallery"
      actions={
        <>
          <CopyAsCurl
            requests={() => [{ path: listPath(filters, 100) }, { path: '/events?type=capture.*', stream: true }]}
          />
          <a class="button primary" href={hrefOf('/capture')}>
            <Icon name="plus" />
            Capture
          </a>
        </>
      }
    >
      <FilterBar filters={filters} onChange={change} />
      <div class="gallery-frame">
        {waiting > 0 && (
          <button type="button" class="button primary gallery-new" onClick={showWaiting}>
            {integer(waiting)} new {waiting === 1 ? 'capture' : 'captures'}
          </button>
        )}
        {/* biome-ignore lint/a11y/noStaticElementInteractions: the keys move between the links inside */}
        <div class="gallery-scroll" ref={scroller} onScroll={onScroll} onKeyDown={onKeyDown}>
          {state === 'failed' && <Problem error={error} retry={results.reload} />}
          {state === 'ready' && items.length === 0 && <NothingFound isFiltered={countOf(filters) > 0} />}
          <ul class="grid" style={{ height: `${grid.height}px` }} aria-busy={state === 'pending'}>
            {items.slice(grid.start, grid.end).map((result, offset) => {
              const index = grid.start + offset;
              const left = (index % grid.columns) * (grid.cardWidth + grid.gap);
              const top = Math.floor(index / grid.columns) * grid.rowHeight;
              return (
                <li
                  key={result.id}
                  style={{
                    transform: `translate(${left}px, ${top}px)`,
                    width: `${grid.cardWidth}px`,
                    height: `${grid.rowHeight - grid.gap}px`,
                  }}
                >
                  <Card
                    result={result}
                    index={index}
                    width={grid.cardWidth}
                    isChosen={chosen.includes(result.id)}
                    onChoose={() => choose(result.id)}
                  />
                </li>
              );
            })}
          </ul>
        </div>
        {chosen.length > 0 && <Choice chosen={chosen} onClear={() => setChosen([])} />}
      </div>
      <p class="sr-only" aria-live="polite">
        {state === 'ready' && focused === undefined ? `${integer(items.length)} captures loaded` : ''}
      </p>
    </View>
  );
}

function Choice({ chosen, onClear }: { readonly chosen: readonly number[]; readonly onClear: () => void }) {
  const [a, b] = chosen;
  return (
    <div class="choice" role="status">
      <span>{chosen.length} of 2 chosen</span>
      {b !== undefined && (
        <a class="button primary" href={hrefOf(`/compare${queryOf({ a, b })}`)}>
          Compare
        </a>
      )}
      <button type="button" class="button quiet" onClick={onClear}>
        Clear
      </button>
    </div>
  );
}

function NothingFound({ isFiltered }: { readonly isFiltered: boolean }) {
  return isFiltered ? (
    <Empty title="No capture matches">
      <p>Remove a filter, or search for less.</p>
    </Empty>
  ) : (
    <Empty title="No captures yet">
      <p>Captures appear here as soon as they are stored.</p>
      <a class="button primary" href={hrefOf('/capture')}>
        Capture a page
      </a>
    </Empty>
  );
}

function focusedIndex(scroller: HTMLElement | null): number {
  const { activeElement } = document;
  const link = scroller?.contains(activeElement) ? activeElement?.closest('li')?.querySelector('[data-index]') : null;
  return link instanceof HTMLElement ? Number(link.dataset.index) : -1;
}

/** Moves the focus between cards. A card that is not in the document yet is focused when it is added. */
function useArrowKeys(
  scroller: { readonly current: HTMLElement | null },
  { columns, rowHeight }: { readonly columns: number; readonly rowHeight: number },
  count: number,
) {
  const [focused, setFocused] = useState<number>();
  useLayoutEffect(() => {
    if (focused === undefined) return;
    const link = scroller.current?.querySelector<HTMLElement>(`[data-index="${focused}"]`);
    if (link === null || link === undefined) return;
    link.focus({ preventScroll: true });
    setFocused(undefined);
  });
  const steps: Readonly<Record<string, number>> = {
    ArrowLeft: -1,
    ArrowRight: 1,
    ArrowUp: -columns,
    ArrowDown: columns,
  };
  const move = (event: KeyboardEvent) => {
    const step = steps[event.key];
    if (step === undefined || isTyping(event) || count === 0) return;
    event.preventDefault();
    const from = focusedIndex(scroller.current);
    const to = from === -1 ? 0 : Math.min(count - 1, Math.max(0, from + step));
    const { current } = scroller;
    if (current !== null) {
      const top = Math.floor(to / columns) * rowHeight;
      if (top < current.scrollTop) current.scrollTo({ top });
      else if (top + rowHeight > current.scrollTop + current.clientHeight)
        current.scrollTo({ top: top + rowHeight - current.clientHeight });
    }
    setFocused(to);
  };
  // Arrow keys work anywhere on the page, unless the focused control uses them itself.
  const latest = useRef(move);
  latest.current = move;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (document.activeElement === document.body) latest.current(event);
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  return { move, focused };
}
