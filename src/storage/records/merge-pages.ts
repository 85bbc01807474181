interface Row {
  /** Milliseconds since the Unix epoch. */
  readonly probedAt: number;
  readonly id: number;
}

/** Merges pages that are each newest first by `(probedAt, id)` into one of at most `limit` rows, each row once. */
export function mergePages<T extends Row>(pages: readonly (readonly T[])[], limit: number): T[] {
  const rows = new Map(pages.flat().map((row) => [row.id, row]));
  return [...rows.values()].sort((a, b) => b.probedAt - a.probedAt || b.id - a.id).slice(0, limit);
}
