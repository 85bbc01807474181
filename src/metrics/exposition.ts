import { collectDefaultMetrics, type OpenMetricsContentType, Registry } from 'prom-client';
import { type MetricsSource, metricFamilies } from './families.ts';
import { type AnyRegistry, Family } from './family.ts';

type MetricsFormat = 'text' | 'openmetrics';

interface Rendering {
  /** Media type. */
  readonly type: string;
  readonly text: string;
}

export interface Exposition {
  /** Returns the current metrics. */
  render(format: MetricsFormat): Promise<Rendering>;
}

/** Metrics of prom-client that Prometheus' own linter rejects: gauges whose names end like those of counters. */
const MISNAMED = ['nodejs_active_resources_total', 'nodejs_active_handles_total', 'nodejs_active_requests_total'];

/**
 * Renders metrics for Prometheus. Loads prom-client (60 ms, 20 MB), so import this file only for the first scrape.
 * The default metrics of prom-client (process, heap, garbage collection) are counted from the first scrape.
 */
export function createExposition(source: MetricsSource): Exposition {
  // One registry for each format, created on demand: a registry for OpenMetrics renames its counters permanently.
  const opened = new Map<MetricsFormat, () => Promise<Rendering>>();
  return {
    render: (format) => {
      const render = opened.get(format) ?? openFormat(format, source);
      opened.set(format, render);
      return render();
    },
  };
}

function openFormat(format: MetricsFormat, source: MetricsSource): () => Promise<Rendering> {
  const registry = openRegistry(format);
  const { families, refresh } = metricFamilies(source);
  for (const family of families) new Family(family, registry);
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  return async () => {
    refresh();
    return { type: registry.contentType, text: await registry.metrics() };
  };
}

function openRegistry(format: MetricsFormat): AnyRegistry {
  if (format === 'text') return new Registry();
  const registry = new Registry<OpenMetricsContentType>();
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  return registry;
}
