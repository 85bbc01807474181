import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { queryOf } from '../../api/client.ts';
import { onRemoved } from '../../api/removal.ts';
import { mayCapture } from '../../api/session.ts';
import type { Result } from '../../api/types.ts';
import { CopyAsCurl } from '../../parts/copy-as-curl.tsx';
import { FeedButton } from '../../parts/feed-button.tsx';
import { integer } from '../../parts/format.ts';
import { Icon } from '../../parts/icon.tsx';
import { focusHeading } from '../../parts/keep-focus.ts';
import { isShortcut, isTyping } from '../../parts/keyboard.ts';
import { goTo, hrefOf, query } from '../../parts/route.ts';
import { Segments } from '../../parts/segments.tsx';
import { Select } from '../../parts/select.tsx';
import { usePlace } from '../../parts/use-place.ts';
import { Problem, View } from '../../parts/view.tsx';
import { Cards } from './cards.tsx';
import { FilterBar } from './filter-bar.tsx';
import { countOf, type Filters, feedOf, groupsPath, listPath, readFilters } from './filters.ts';
import { GROUPINGS, type Grouping, Groups, groupingOf, MAX_GROUPS, useGroups } from './groups.tsx';
import { LabelCaptures } from './label-captures.tsx';
import { NothingFound } from './nothing-found.tsx';
import { Selection } from './selection.tsx';
import { focusedIndex, useArrowKeys } from './use-arrow-keys.ts';
import { useGrid } from './use-grid.ts';
import { useLooks } from './use-looks.ts';
import { useResults } from './use-results.ts';

/** Maximum distance from the top, in pixels, at which new captures are inserted. */
const AT_TOP = 8;

const LAYOUTS = [
  ['cards', 'Cards'],
  ['table', 'Table'],
  ['alike', 'Alike'],
  ['groups', 'Groups'],
] as const;
type Layout = (typeof LAYOUTS)[number][0];

function layoutOf(text: string | null): Layout {
  return LAYOUTS.find(([layout]) => layout === text)?.[0] ?? 'cards';
}

export function Gallery() {
  const search = query.value.toString();
  const filters = useMemo(() => readFilters(new URLSearchParams(search)), [search]);
  const scroller = useRef<HTMLDivElement>(null);
  const isScrolled = useCallback(() => (scroller.current?.scrollTop ?? 0) > AT_TOP, []);
  const results = useResults(filters, isScrolled);
  const { state, error, isComplete, waiting } = results;
  const layout = layoutOf(query.value.get('view'));
  // The captures of a scan are many: each group is one card, until it is unfolded.
  const looks = useLooks(layout === 'alike' ? results.items : undefined, filters.scan !== '');
  const items = { cards: results.items, table: results.items, alike: looks.shown, groups: [] }[layout];
  const by = groupingOf(query.value.get('by'));
  const grid = useGrid(scroller, items.length, layout === 'table');
  const [chosen, setChosen] = useState<readonly number[]>([]);

  useEffect(() => {
    const rowsLeft = (items.length - grid.end) / grid.columns;
    if (layout !== 'groups' && state === 'ready' && !isComplete && rowsLeft < 4) results.loadMore();
  });
  const counted = useGroups(filters, by, layout === 'groups');
  const keepPlace = usePlace(scroller, {
    of: search,
    isReady: layout === 'groups' ? counted.data !== undefined : state === 'ready',
    loadMore: layout === 'groups' || isComplete ? undefined : results.loadMore,
  });

  const choose = (id: number) =>
    setChosen((ids) => (ids.includes(id) ? ids.filter((each) => each !== id) : [...ids, id]));
  const selected = chosen.flatMap((id) => results.items.find((each) => each.id === id) ?? []);
  useEffect(() => onRemoved((id) => setChosen((ids) => ids.filter((each) => each !== id))), []);
  const groups = counted.data?.groups.length ?? 0;
  const { move, focus, focused } = useArrowKeys(
    scroller,
    layout === 'groups' ? undefined : grid,
    layout === 'groups' ? groups : items.length,
  );
  /** Where the first selected card is: another one is there when it was deleted, unless it is the last. */
  const firstChosen = items.findIndex(({ id }) => chosen.includes(id));
  const focusAfterDeletion = () => {
    const left = items.length - selected.length;
    if (left > 0) focus(Math.min(Math.max(0, firstChosen), left - 1));
    else focusHeading();
  };
  const [labelled, setLabelled] = useState<readonly Result[] | 'matching'>();
  const mayLabel = mayCapture.value === true;
  const onKeyDown = (event: KeyboardEvent) => {
    const item = items[focusedIndex(scroller.current)];
    if (isShortcut(event) || isTyping(event) || item === undefined) return move(event);
    if (event.key === 'x') choose(item.id);
    else if (event.key === 'l' && mayLabel) {
      event.preventDefault();
      setLabelled(selected.length > 0 ? selected : [item]);
    } else move(event);
  };
  const onScroll = () => {
    grid.update();
    keepPlace();
    if (waiting.count > 0 && !isScrolled()) results.release();
  };
  const showWaiting = () => {
    scroller.current?.scrollTo({ top: 0 });
    results.release();
  };
  const address = (next: Filters, view: Layout, grouping = by) =>
    `/${queryOf({ ...next, view: view === 'cards' ? '' : view, by: view === 'groups' ? grouping : '' })}`;
  const change = (next: Filters, isMore: boolean) => goTo(address(next, layout), { replace: isMore });
  const show = (next: Layout, grouping?: Grouping) => goTo(address(filters, next, grouping), { replace: true });

  const feed = feedOf(filters);
  return (
    <View
      title="Gallery"
      class="gallery"
      actions={
        <>
          <CopyAsCurl
            requests={() =>
              layout === 'groups'
                ? [{ path: groupsPath(filters, by, MAX_GROUPS) }]
                : [{ path: listPath(filters, 100) }, { path: '/events?type=capture.*', stream: true }]
            }
          />
          {feed !== undefined && <FeedButton of={feed} name="this list" />}
          {countOf(filters) > 0 && mayLabel && (
            <button type="button" class="button" aria-label="Label all" onClick={() => setLabelled('matching')}>
              <Icon name="label" />
              <span class="wide-only">Label all</span>
            </button>
          )}
          <a class="button primary" href={hrefOf('/capture')}>
            <Icon name="plus" />
            Capture
          </a>
        </>
      }
    >
      <FilterBar filters={filters} onChange={change}>
        <Segments label="View" name="view" choices={LAYOUTS} chosen={layout} onChoose={(value) => show(value)} />
        {layout === 'groups' && (
          <label class="field inline" htmlFor="group-by">
            <span>Group by</span>
            <Select id="group-by" value={by} options={GROUPINGS} onChange={(value) => show('groups', value)} />
          </label>
        )}
      </FilterBar>
      <div class="gallery-frame">
        {waiting.count > 0 && (
          <button type="button" class="button primary gallery-new" onClick={showWaiting}>
            {integer(waiting.count)}
            {waiting.isMore && '+'} new {waiting.count === 1 ? 'capture' : 'captures'}
          </button>
        )}
        {/* biome-ignore lint/a11y/noStaticElementInteractions: the keys move between the links inside */}
        <div class="gallery-scroll" ref={scroller} onScroll={onScroll} onFocusIn={keepPlace} onKeyDown={onKeyDown}>
          {layout === 'groups' ? (
            <Groups filters={filters} by={by} answer={counted} />
          ) : (
            <>
              {state === 'failed' && <Problem error={error} retry={results.reload} />}
              {state === 'ready' && results.items.length === 0 && <NothingFound filters={filters} />}
              {looks.leftOut > 0 && (
                <p class="muted gallery-note">
                  {integer(looks.leftOut)} left out: no perception hash. Captures of the form have one; in a request,
                  ask for it with evidence: ["perception_hash"].
                </p>
              )}
              <Cards
                items={items}
                grid={grid}
                isTable={layout === 'table'}
                isPending={state === 'pending'}
                words={filters.words}
                lookOf={looks.lookOf}
                chosen={chosen}
                onChoose={choose}
              />
            </>
          )}
        </div>
        {selected.length > 0 && (
          <Selection
            selected={selected}
            onLabel={mayLabel ? () => setLabelled(selected) : undefined}
            onDeleted={focusAfterDeletion}
            onClear={() => setChosen([])}
          />
        )}
      </div>
      {labelled !== undefined && (
        <LabelCaptures
          of={labelled === 'matching' ? filters : labelled}
          onLabelled={results.replace}
          onClose={(isListChanged) => {
            setLabelled(undefined);
            if (isListChanged) results.reload();
          }}
        />
      )}
      <p class="sr-only" aria-live="polite">
        {layout !== 'groups' && state === 'ready' && focused === undefined
          ? `${integer(items.length)} captures loaded`
          : ''}
      </p>
    </View>
  );
}
