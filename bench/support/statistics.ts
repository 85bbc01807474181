/** Returns the quantile for `share` (0 to 1) by the nearest rank; NaN without values. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  const mirrored = values.map((value) => -value);
  return (percentile(values, 0.5) - percentile(mirrored, 0.5)) / 2;
}
