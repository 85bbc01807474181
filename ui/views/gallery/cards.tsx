import type { Result } from '../../api/types.ts';
import { Card } from './card.tsx';
import type { Grid } from './use-grid.ts';
import type { Looks } from './use-looks.ts';

const TABLE_THUMBNAIL = 128;

interface CardsProps {
  readonly items: readonly Result[];
  readonly grid: Grid;
  readonly isTable: boolean;
  readonly isPending: boolean;
  /** The words that were searched for; empty for none. */
  readonly words: string;
  readonly lookOf: Looks['lookOf'];
  /** Ids of the selected captures. */
  readonly chosen: readonly number[];
  readonly onChoose: (id: number) => void;
}

/** The captures as cards or rows of a table, of which only those near the visible part are in the document. */
export function Cards({ items, grid, isTable, isPending, words, lookOf, chosen, onChoose }: CardsProps) {
  return (
    <ul class={isTable ? 'grid table' : 'grid'} style={{ height: `${grid.height}px` }} aria-busy={isPending}>
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
              width={isTable ? TABLE_THUMBNAIL : grid.cardWidth}
              words={words}
              look={lookOf(result.id)}
              isChosen={chosen.includes(result.id)}
              onChoose={() => onChoose(result.id)}
            />
          </li>
        );
      })}
    </ul>
  );
}
