import { Gauge, type OpenMetricsContentType, type PrometheusContentType, type Registry } from 'prom-client';
import { BOUNDS_SECONDS, type DurationHistogram } from './duration-histogram.ts';

export type AnyRegistry = Registry<PrometheusContentType> | Registry<OpenMetricsContentType>;

/** Values of labels. Clients cannot choose any of them, so the number of series is bounded. */
export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  readonly labels: Labels;
  readonly value: number;
  /** Suffix of the name, in histograms. */
  readonly suffix?: '_bucket' | '_sum' | '_count';
}

export interface FamilyOptions {
  /** The unit is part of the name, and so is `_total` in the name of a counter. */
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  /** Called for each scrape. */
  readonly read: () => readonly Sample[];
}

/**
 * A metric family whose values are computed at each scrape, when the registry of prom-client calls `get`. The metrics
 * of prom-client take only labels whose names were declared, also in `collect`, and its histograms only observations.
 */
export class Family extends Gauge {
  /** Read by the registry, which takes `_total` from the name of a counter in OpenMetrics. */
  readonly type: string;
  readonly #options: FamilyOptions;

  constructor(options: FamilyOptions, registry: AnyRegistry) {
    super({ name: options.name, help: options.help, registers: [registry] });
    this.type = options.type;
    this.#options = options;
  }

  override async get() {
    const { name, read } = this.#options;
    const values = read().map(({ labels, value, suffix }) => ({
      labels,
      value,
      ...(suffix !== undefined && { metricName: name + suffix }),
    }));
    return { ...(await super.get()), values };
  }
}

export function histogramSamples(histogram: DurationHistogram, labels: Labels = {}): readonly Sample[] {
  const { cumulative, sum, count } = histogram;
  return [
    ...BOUNDS_SECONDS.map(
      (bound, index): Sample => ({
        labels: { ...labels, le: String(bound) },
        value: cumulative[index] ?? 0,
        suffix: '_bucket',
      }),
    ),
    { labels: { ...labels, le: '+Inf' }, value: count, suffix: '_bucket' },
    { labels, value: sum, suffix: '_sum' },
    { labels, value: count, suffix: '_count' },
  ];
}
