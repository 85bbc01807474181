import { useMemo } from 'preact/hooks';
import { groupByLook } from '../../../src/capture/finding/looks.ts';
import type { Result } from '../../api/types.ts';
import { useCarried } from '../../parts/kept.ts';

/** Whether the captures that look like one are shown, too. */
interface Fold {
  readonly isOpen: boolean;
  readonly change: () => void;
}

/** State of a capture among those that look like it. */
export interface Look {
  /** Number of captures that look alike, this one included. */
  readonly alike: number;
  /** Undefined for all but the first capture of a group that can be folded. */
  readonly fold?: Fold | undefined;
}

export interface Looks {
  /** The captures to show: those that look alike beside each other, and only the first one of a folded group. */
  readonly shown: readonly Result[];
  /** Number of successful captures that are not shown because they have no perception hash. */
  readonly leftOut: number;
  readonly lookOf: (id: number) => Look | undefined;
}

/**
 * Groups captures that look alike.
 *
 * @param captures undefined when captures are not grouped
 * @param canFold whether groups are folded until they are opened
 */
export function useLooks(captures: readonly Result[] | undefined, canFold: boolean): Looks {
  const groups = useMemo(() => groupByLook(captures ?? []), [captures]);
  const [unfolded, setUnfolded] = useCarried<readonly number[]>('unfolded', []);
  return useMemo(() => {
    const looks = new Map<number, Look>();
    const shown: Result[] = [];
    for (const group of groups) {
      const first = group[0]?.id ?? 0;
      const isOpen = !canFold || unfolded.includes(first);
      for (const { id } of group) looks.set(id, { alike: group.length });
      const change = () => setUnfolded((ids) => (isOpen ? ids.filter((id) => id !== first) : [...ids, first]));
      if (canFold) looks.set(first, { alike: group.length, fold: { isOpen, change } });
      shown.push(...(isOpen ? group : group.slice(0, 1)));
    }
    const leftOut = captures?.filter(({ id, failed }) => !failed && !looks.has(id)).length ?? 0;
    return { shown, leftOut, lookOf: (id) => looks.get(id) };
  }, [captures, groups, unfolded, setUnfolded, canFold]);
}
