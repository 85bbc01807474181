/** Returns the quantile for `share` (0 to 1) by the nearest rank; NaN without values. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  return (
    (percentile(values, 0.5) +
      percentile(
        values.map((value) => -value),
        0.5,
      ) *
        -1) /
    2
  );
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

export interface Trend {
  readonly slope: number;
  /** Standard error of the slope: a slope within two standard errors of zero is not significant. */
  readonly standardError: number;
}

/** Fits a least-squares line through points (x, y); needs at least three. */
export function trend(points: readonly (readonly [x: number, y: number])[]): Trend {
  const meanX = mean(points.map(([x]) => x));
  const meanY = mean(points.map(([, y]) => y));
  const variance = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  const slope = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0) / variance;
  const residual = points.reduce((sum, [x, y]) => sum + (y - meanY - slope * (x - meanX)) ** 2, 0);
  return { slope, standardError: Math.sqrt(residual / (points.length - 2) / variance) };
}
