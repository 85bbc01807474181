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
 * A metric family whose values are computed at each scrape. The registry of prom-client only asks a metric for its
 * values. The metrics of prom-client itself store their values, and would have to be updated for every event.
 */
export class Family extends Gauge {
  /** Read by the registry. */
  readonly type: string;
  readonly #name: string;
  readonly #read: FamilyOptions['read'];

  constructor({ name, type, help, read }: FamilyOptions, registry: AnyRegistry) {
    // In OpenMetrics `_total` belongs to the sample of a counter, and the registry appends it.
    const family = type === 'counter' && isOpenMetrics(registry) ? name.replace(/_total$/, '') : name;
    super({ name: family, help, registers: [registry] });
    this.type = type;
    this.#name = family;
    this.#read = read;
  }

  override async get() {
    const values = this.#read().map(({ labels, value, suffix }) => ({
      labels,
      value,
      ...(suffix === undefined ? {} : { metricName: `${this.#name}${suffix}` }),
    }));
    return { ...(await super.get()), values };
  }

  /** Called by the registry in place of `get`. */
  getForPromString() {
    return this.get();
  }
}

function isOpenMetrics({ contentType }: AnyRegistry): boolean {
  return contentType.startsWith('application/openmetrics-text');
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
