import { describe, expect, it } from 'vitest';
import { withoutOldest } from '../../src/cluster/event-writer.ts';
import type { WrittenEvent } from '../../src/cluster/messages.ts';

const NOW = Date.parse('2026-03-02T10:00:00Z');

function waiting(types: readonly string[]): WrittenEvent[] {
  return types.map((type, at) => ({
    n: at + 1,
    event: { type, host: null, batch: null, body: '{}', ...(type === 'stored' && { key: `ended-${at}` }) },
  }));
}

function reduced(types: readonly string[], times: number): readonly string[] {
  let list = waiting(types);
  for (let time = 0; time < times; time += 1) list = withoutOldest(list, NOW);
  return list.map(({ n, event }) => `${n} ${event.type}`);
}

describe('events that wait for NATS when they are too many', () => {
  it('are dropped from the oldest, and a gap says where', () => {
    expect(reduced(['queued', 'started', 'queued', 'started'], 1)).toEqual(['2 gap', '3 queued', '4 started']);
    expect(reduced(['queued', 'started', 'queued', 'started'], 2)).toEqual(['3 gap', '4 started']);
  });

  it('are never those of stored captures', () => {
    expect(reduced(['queued', 'stored', 'stored', 'queued', 'stored'], 1)).toEqual([
      '2 stored',
      '3 stored',
      '4 gap',
      '5 stored',
    ]);
    expect(reduced(['stored', 'stored', 'queued'], 3)).toEqual(['1 stored', '2 stored', '3 queued']);
  });

  it('are those of the API key with the most: others lose none, and only it has a gap', () => {
    const of = (key: string, count: number, from: number) =>
      Array.from({ length: count }, (_, at) => ({
        n: from + at,
        event: { type: 'queued', host: null, batch: null, api_key_name: key, body: '{}' },
      }));
    const list = withoutOldest(withoutOldest([...of('quiet', 2, 1), ...of('flood', 5, 3)], NOW), NOW);
    expect(list.map(({ n, event }) => `${n} ${event.type} ${event.api_key_name}`)).toEqual([
      '1 queued quiet',
      '2 queued quiet',
      '5 gap flood',
      '6 queued flood',
      '7 queued flood',
    ]);
  });
});
