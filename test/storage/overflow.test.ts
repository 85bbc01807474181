import { describe, expect, it } from 'vitest';
import { WRITTEN } from '../../src/cluster/event-writer.ts';
import type { WrittenEvent } from '../../src/cluster/messages.ts';
import { withoutOldest } from '../../src/storage/records/overflow.ts';

const NOW = Date.parse('2026-03-02T10:00:00Z');
const FLOOD = ['flood', 'flood', 'flood', 'flood', 'flood'];

/** Returns what a full list has of events of these keys. `stored` stands for the end of a stored capture. */
function reduced(keys: readonly string[], max: number): readonly string[] {
  const waiting = keys.map(
    (key, at): WrittenEvent => ({
      n: at + 1,
      event: {
        type: 'queued',
        host: null,
        batch: null,
        body: '{}',
        ...(key === 'stored' ? { key: `ended-${at}` } : { api_key_name: key }),
      },
    }),
  );
  return withoutOldest(waiting, WRITTEN, { events: max, characters: 1_000_000 }, NOW).map(({ n, event }) =>
    [n, event.type, event.key === undefined ? event.api_key_name : 'stored'].join(' '),
  );
}

describe('events that wait for NATS when they are too many', () => {
  it('are dropped from the oldest, and a gap says where', () => {
    expect(reduced(FLOOD, 4)).toEqual(['2 gap flood', '3 queued flood', '4 queued flood', '5 queued flood']);
    expect(reduced(FLOOD, 2)).toEqual(['4 gap flood', '5 queued flood']);
  });

  it('are never those of stored captures', () => {
    expect(reduced(['flood', 'stored', 'stored', 'flood', 'stored'], 3)).toEqual([
      '2 queued stored',
      '3 queued stored',
      '4 gap flood',
      '5 queued stored',
    ]);
    expect(reduced(['stored', 'stored'], 1)).toEqual(['1 queued stored', '2 queued stored']);
  });

  it('are those of the API key with the most: others lose none, and only it has a gap', () => {
    expect(reduced(['quiet', 'quiet', ...FLOOD], 5)).toEqual([
      '1 queued quiet',
      '2 queued quiet',
      '5 gap flood',
      '6 queued flood',
      '7 queued flood',
    ]);
  });

  it('are dropped a hundredth of the list at once', () => {
    expect(reduced(Array(1_001).fill('flood'), 1_000)).toHaveLength(990);
  });

  it('are few enough afterwards, also with the gaps of many keys', () => {
    const keys = Array.from({ length: 1_200 }, (_, at) => `key ${at % 300}`);
    expect(reduced(keys, 1_000)).toHaveLength(990);
  });
});
