import { dateAndTime } from '../../../parts/format.ts';

const HEIGHT = 100;
const WIDTH = 400;
/** Length of the line of a value without others beside it. */
const MARK = 4;

export interface Point {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Undefined when it was not read: the line has a gap there. */
  readonly number: number | undefined;
  /** As people write it. */
  readonly shown: string;
  readonly isChange: boolean;
}

interface LineChartProps {
  readonly name: string;
  /** Oldest first. */
  readonly points: readonly Point[];
  readonly thresholds: readonly number[];
  readonly format: (number: number) => string;
}

/** A value over time, which holds until the next one is read, with the thresholds of its conditions as dashed lines. */
export function LineChart({ name, points, thresholds, format }: LineChartProps) {
  const read = points.flatMap(({ number }) => number ?? []);
  const [first, last] = [points[0], points.at(-1)];
  if (read.length === 0 || first === undefined || last === undefined) return null;
  const all = [...read, ...thresholds];
  const [min, max] = [Math.min(...all), Math.max(...all)];
  const margin = (max - min || Math.abs(max) || 1) * 0.1;
  const y = (number: number) => HEIGHT * (1 - (number - min + margin) / (max - min + 2 * margin));
  const x = (at: number) => (first.at === last.at ? WIDTH / 2 : (WIDTH * (at - first.at)) / (last.at - first.at));
  const top = (number: number) => ({ top: `${y(number)}%` });
  const changes = points.filter(({ isChange }) => isChange);
  return (
    <figure class="value-chart">
      <div class="value-plot">
        <svg
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={worded(name, points, thresholds.map(format))}
        >
          {thresholds.map((threshold) => (
            <line key={threshold} class="threshold" x1={0} x2={WIDTH} y1={y(threshold)} y2={y(threshold)} />
          ))}
          <path class="value-line" d={pathOf(points, x, y)} />
        </svg>
        {changes.map(({ at, number, shown }) =>
          number === undefined ? null : (
            <span
              key={at}
              class="value-change"
              title={`${shown}, ${dateAndTime(new Date(at).toISOString())}`}
              style={{ left: `${(100 * x(at)) / WIDTH}%`, ...top(number) }}
            />
          ),
        )}
        {thresholds.map((threshold) => (
          <span key={threshold} class="threshold-label number" style={top(threshold)}>
            {format(threshold)}
          </span>
        ))}
        <span class="value-scale number" style={top(Math.max(...read))}>
          {format(Math.max(...read))}
        </span>
        {Math.min(...read) < Math.max(...read) && (
          <span class="value-scale number" style={top(Math.min(...read))}>
            {format(Math.min(...read))}
          </span>
        )}
      </div>
      <figcaption class="muted">
        <span>{dateAndTime(new Date(first.at).toISOString())}</span>
        <span>{dateAndTime(new Date(last.at).toISOString())}</span>
      </figcaption>
    </figure>
  );
}

/** A step for each value. A single one, or one between gaps, is a short line. */
function pathOf(points: readonly Point[], x: (at: number) => number, y: (number: number) => number): string {
  return points
    .map(({ at, number }, index) => {
      if (number === undefined) return '';
      const [before, next] = [points[index - 1]?.number, points[index + 1]];
      const isAlone = before === undefined && next === undefined;
      const start = before === undefined ? `M${x(at) - (isAlone ? MARK : 0)} ${y(number)}` : `V${y(number)}`;
      return `${start}H${next === undefined ? x(at) : x(next.at)}`;
    })
    .join('');
}

/** Says what the chart shows. */
function worded(name: string, points: readonly Point[], thresholds: readonly string[]): string {
  const read = points.filter(({ number }) => number !== undefined);
  const by = read.toSorted((a, b) => (a.number ?? 0) - (b.number ?? 0));
  const parts = [
    `${name}: ${read.at(-1)?.shown} now`,
    `from ${by[0]?.shown} to ${by.at(-1)?.shown} in ${points.length} runs`,
    ...thresholds.map((threshold) => `threshold ${threshold}`),
  ];
  return parts.join(', ');
}
