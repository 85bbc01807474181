import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { groupByLook } from '../../../src/capture/finding/looks.ts';
import { queryOf } from '../../api/client.ts';
import { onRemoved } from '../../api/removal.ts';
import { mayCapture } from '../../api/session.ts';
import type { Result } from '../../api/types.ts';
import { CopyAsCurl } from '../../parts/copy-as-curl.tsx';
import { FeedButton } from '../../parts/feed-button.tsx';
import { integer } from '../../parts/format.ts';
import { Icon } from '../../parts/icon.tsx';
import { isTyping } from '../../parts/keyboard.ts';
import { goTo, hrefOf, query } from '../../parts/route.ts';
import { Segments } from '../../parts/segments.tsx';
import { Select } from '../../parts/select.tsx';
import { usePlace } from '../../parts/use-place.ts';
import { Empty, Problem, View } from '../../parts/view.tsx';
import { Card } from './card.tsx';
import { FilterBar } from './filter-bar.tsx';
import { countOf, type Filters, feedOf, groupsPath, listPath, readFilters } from './filters.ts';
import { GROUPINGS, type Grouping, Groups, groupingOf, MAX_GROUPS, useGroups } from './groups.tsx';
import { LabelCaptures } from './label-captures.tsx';
import { Selection } from './selection.tsx';
import { focusedIndex, useArrowKeys } from './use-arrow-keys.ts';
import { useGrid } from './use-grid.ts';
import { useResults } from './use-results.ts';

/** Maximum distance from the top, in pixels, at which new captures are inserted. */
const AT_TOP = 8;

const TABLE_THUMBNAIL = 128;

const WAYS = [
  ['cards', 'Cards'],
  ['table', 'Table'],
  ['alike', 'Alike'],
  ['groups', 'Groups'],
] as const;
type Way = (typeof WAYS)[number][0];

function wayOf(text: string | null): Way {
  return WAYS.find(([way]) => way === text)?.[0] ?? 'cards';
}

export function Gallery() {
  const search = query.value.toString();
  const filters = useMemo(() => readFilters(new URLSearchParams(search)), [search]);
  const scroller = useRef<HTMLDivElement>(null);
  const isScrolled = useCallback(() => (scroller.current?.scrollTop ?? 0) > AT_TOP, []);
  const results = useResults(filters, isScrolled);
  const { state, error, isComplete, waiting } = results;
  const way = wayOf(query.value.get('view'));
  const groups = useMemo(() => (way === 'alike' ? groupByLook(results.items) : undefined), [way, results.items]);
  const [unfolded, setUnfolded] = useState<ReadonlySet<number>>(new Set());
  // The captures of a scan are many: each group is one card, until it is unfolded.
  const isFolded = filters.scan !== '';
  const items = useMemo(() => {
    const shown = (group: readonly Result[]) =>
      isFolded && !unfolded.has(group[0]?.id ?? 0) ? group.slice(0, 1) : group;
    return way === 'groups' ? [] : (groups?.flatMap(shown) ?? results.items);
  }, [way, groups, results.items, isFolded, unfolded]);
  const unfold = (id: number) =>
    setUnfolded((ids) => new Set(ids.has(id) ? [...ids].filter((each) => each !== id) : [...ids, id]));
  const alike = useMemo(
    () => new Map(groups?.flatMap((group) => group.map(({ id }) => [id, group.length] as const))),
    [groups],
  );
  const firsts = useMemo(() => new Set(groups?.map(([first]) => first?.id)), [groups]);
  const by = groupingOf(query.value.get('by'));
  const grid = useGrid(scroller, items.length, way === 'table');
  const [chosen, setChosen] = useState<readonly number[]>([]);

  useEffect(() => {
    const rowsLeft = (items.length - grid.end) / grid.columns;
    if (way !== 'groups' && state === 'ready' && !isComplete && rowsLeft < 4) results.loadMore();
  });
  const counted = useGroups(filters, by, way === 'groups');
  const keepPlace = usePlace(scroller, {
    of: search,
    isReady: way === 'groups' ? counted.data !== undefined : state === 'ready',
    loadMore: way === 'groups' || isComplete ? undefined : results.loadMore,
  });

  const choose = (id: number) =>
    setChosen((ids) => (ids.includes(id) ? ids.filter((each) => each !== id) : [...ids, id]));
  const selected = chosen.flatMap((id) => results.items.find((each) => each.id === id) ?? []);
  useEffect(() => onRemoved((id) => setChosen((ids) => ids.filter((each) => each !== id))), []);
  const { move, focused } = useArrowKeys(scroller, grid, items.length);
  const [labelled, setLabelled] = useState<readonly Result[] | 'matching'>();
  const mayLabel = mayCapture.value === true;
  const onKeyDown = (event: KeyboardEvent) => {
    const item = items[focusedIndex(scroller.current)];
    if (isTyping(event) || item === undefined) return move(event);
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
  const address = (next: Filters, view: Way, grouping = by) =>
    `/${queryOf({ ...next, view: view === 'cards' ? '' : view, by: view === 'groups' ? grouping : '' })}`;
  const change = (next: Filters, isMore: boolean) => goTo(address(next, way), { replace: isMore });
  const show = (next: Way, grouping?: Grouping) => goTo(address(filters, next, grouping), { replace: true });

  const feed = feedOf(filters);
  return (
    <View
      title="Gallery"
      class="gallery"
      actions={
        <>
          <CopyAsCurl
            requests={() =>
              way === 'groups'
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
        <Segments label="View" name="view" choices={WAYS} chosen={way} onChoose={(value) => show(value)} />
        {way === 'groups' && (
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
          {way === 'groups' && <Groups filters={filters} by={by} answer={counted} />}
          {way !== 'groups' && state === 'failed' && <Problem error={error} retry={results.reload} />}
          {way !== 'groups' && state === 'ready' && results.items.length === 0 && <NothingFound filters={filters} />}
          {way === 'alike' && results.items.length > alike.size && (
            <p class="muted gallery-note">
              {integer(results.items.length - alike.size)} captures without a perception hash are left out. Captures of
              the form have one; in a request, ask for it with evidence: ["perception_hash"].
            </p>
          )}
          <ul
            hidden={way === 'groups'}
            class={way === 'table' ? 'grid table' : 'grid'}
            style={{ height: `${grid.height}px` }}
            aria-busy={state === 'pending'}
          >
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
                    width={way === 'table' ? TABLE_THUMBNAIL : grid.cardWidth}
                    words={filters.words}
                    alike={alike.get(result.id)}
                    fold={
                      isFolded && firsts.has(result.id)
                        ? { isOpen: unfolded.has(result.id), change: () => unfold(result.id) }
                        : undefined
                    }
                    isChosen={chosen.includes(result.id)}
                    onChoose={() => choose(result.id)}
                  />
                </li>
              );
            })}
          </ul>
        </div>
        {selected.length > 0 && (
          <Selection
            selected={selected}
            onLabel={mayLabel ? () => setLabelled(selected) : undefined}
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
        {state === 'ready' && focused === undefined ? `${integer(items.length)} captures loaded` : ''}
      </p>
    </View>
  );
}

function NothingFound({ filters }: { readonly filters: Filters }) {
  const { text, words } = filters;
  return countOf(filters) > 0 ? (
    <Empty title="No capture matches">
      <p>Remove a filter, or search for less.</p>
      {text !== '' && words === '' && (
        <a class="button primary" href={hrefOf(`/${queryOf({ ...filters, text: '', words: text })}`)}>
          Search the words on the pages
        </a>
      )}
      {words !== '' && <p>Words are found on pages that were captured while the service ran with --index-words.</p>}
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
