/** A line of the text format: `name{label="value"} 1`. */
export interface Metric {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export function parseMetrics(text: string): readonly Metric[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name = '', labels = '', value = ''] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
      if (name === '') throw new Error(`not a line of the text format: ${line}`);
      const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key = '', text = '']) => [key, text]);
      return { name, labels: Object.fromEntries(pairs), value: Number(value.replace('Inf', 'Infinity')) };
    });
}

/** Returns the values of a metric by one label; of a metric without labels, its value as `''`. */
export function valuesBy(metrics: readonly Metric[], name: string, label = ''): Record<string, number> {
  const found = metrics.filter((metric) => metric.name === name);
  return Object.fromEntries(found.map(({ labels, value }) => [labels[label] ?? '', value]));
}
