interface Row {
  /** Milliseconds since the Unix epoch. */
  readonly probedAt: number;
  readonly id: number;
}

/** Merges pages, each newest first by `(probedAt, id)`, into one page of at most `limit` rows without duplicates. */
export function mergePages<T extends Row>(pages: readonly (readonly T[])[], limit: number): T[] {
  const rows = new Map(pages.flat().map((row) => [row.id, row]));
  return [...rows.values()].sort((a, b) => b.probedAt - a.probedAt || b.id - a.id).slice(0, limit);
}
