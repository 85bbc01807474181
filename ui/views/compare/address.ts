import { queryOf } from '../../api/client.ts';

/** The comparison that the address of the view asks for. */
export interface Wanted {
  /** Id of the capture before; empty when it is not chosen. */
  readonly a: string;
  readonly b: string;
  /** As `ignore` of the API. */
  readonly ignore: readonly string[];
  /** Id of the watch that the captures are from; empty without one. */
  readonly watch: string;
}

export function readWanted(query: URLSearchParams): Wanted {
  const text = (name: string) => query.get(name) ?? '';
  return { a: text('a'), b: text('b'), ignore: [...new Set(query.getAll('ignore'))], watch: text('watch') };
}

export function viewPath({ a, b, ignore, watch }: Wanted): string {
  return `/compare${queryOf({ a, b, watch, ignore })}`;
}

/** The path of the comparison in the API. */
export function comparisonPath({ a, b, ignore }: Wanted): string {
  return `/compare${queryOf({ a, b, ignore })}`;
}
