import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { isDark, theme } from '../../parts/theme.ts';
import type { ColumnName, Series } from './metrics.ts';

export interface Line {
  readonly column: ColumnName;
  readonly label: string;
  /** CSS custom property with the colour of the line. */
  readonly colour: string;
  readonly isDashed?: boolean;
}

interface ChartProps {
  readonly title: string;
  readonly lines: readonly Line[];
  readonly series: Series;
  /** Changes with every sample, because the arrays of `series` stay the same and are appended to. */
  readonly revision: number;
  readonly format: (value: number) => string;
}

const HEIGHT = 150;

/** A chart over time, with the last values as text, which is accessible to screen readers. */
export function Chart({ title, lines, series, revision, format }: ChartProps) {
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const chosen = theme.value;
  useLayoutEffect(() => {
    const { current } = frame;
    if (current === null) return;
    const made = new uPlot(optionsOf(lines, current, format), dataOf(lines, series), current);
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: current.clientWidth, height: HEIGHT }));
    observer.observe(current);
    return () => {
      observer.disconnect();
      made.destroy();
    };
  }, [chosen]);
  useEffect(() => plot.current?.setData(dataOf(lines, series)), [revision]);
  return (
    <figure class="panel chart">
      <figcaption>
        <h2>{title}</h2>
        <ul>
          {lines.map(({ column, label, colour }) => {
            const value = series.columns[column].at(-1);
            return (
              <li key={column}>
                <span class="chart-key" style={{ background: `var(${colour})` }} />
                {label} <span class="number">{value == null ? '–' : format(value)}</span>
              </li>
            );
          })}
        </ul>
      </figcaption>
      <div ref={frame} class="chart-frame" aria-hidden="true" />
    </figure>
  );
}

function dataOf(lines: readonly Line[], { time, columns }: Series): uPlot.AlignedData {
  return [time, ...lines.map(({ column }) => columns[column])];
}

function optionsOf(lines: readonly Line[], frame: HTMLElement, format: (value: number) => string): uPlot.Options {
  const style = getComputedStyle(frame);
  /** A canvas takes colours only, and no custom properties: the browser resolves them on an element. */
  const colourOf = (name: string) => {
    frame.style.color = `var(${name})`;
    return style.color;
  };
  const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
  const axis = {
    stroke: colourOf('--muted'),
    grid: { stroke: colourOf('--line'), width: 1 },
    ticks: { show: false },
    font: `${0.8 * rem}px ${style.fontFamily}`,
  };
  return {
    width: frame.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { points: { size: 5 }, drag: { x: false, y: false } },
    padding: [8, 8, 0, 0],
    scales: { y: { range: (_plot, _min, max) => [0, Math.max(max ?? 0, 4) * 1.1] } },
    axes: [
      { ...axis, size: 1.9 * rem, space: 5 * rem, values: (_plot, ticks) => ticks.map(clock) },
      { ...axis, size: 4.2 * rem, space: 2.4 * rem, values: (_plot, ticks) => ticks.map(format) },
    ],
    series: [
      {},
      ...lines.map(
        ({ label, colour, isDashed }): uPlot.Series => ({
          label,
          stroke: colourOf(colour),
          width: 1.6,
          points: { show: false },
          ...(isDashed === true ? { dash: [5, 4] } : { fill: transparent(colourOf(colour), isDark() ? 0.13 : 0.08) }),
        }),
      ),
    ],
  };
}

/** `rgb`: a resolved colour, such as `rgb(68, 83, 200)`. */
function transparent(rgb: string, opacity: number): string {
  return rgb.replace('rgb(', 'rgba(').replace(')', `, ${opacity})`);
}

function clock(seconds: number): string {
  return new Date(seconds * 1000).toLocaleTimeString('en-GB');
}
