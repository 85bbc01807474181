import { describe, expect, it } from 'vitest';
import { failure } from '../../src/capture/errors.ts';
import { tallyEvents } from '../../src/metrics/tallies.ts';
import {
  batchAccepted,
  batchCompleted,
  captureEnded,
  captureQueued,
  captureRefused,
  captureStarted,
  createEventStream,
} from '../../src/streams/events.ts';
import { captureRequest } from '../support/capture-request.ts';
import { stored } from './rig.ts';

const command = (id: number, url = 'https://a.example/') => ({
  id,
  request: captureRequest(url),
  batch: null,
  apiKeyName: null,
  requestId: null,
});
const BATCH = { batch: 'b', apiKeyName: null };

describe('events', () => {
  it('emits the time, the type and the host', () => {
    expect(captureStarted(1234, command(7, 'http://Bücher.example:8080/x'), 5)).toEqual({
      type: 'capture.started',
      at: '1970-01-01T00:00:01.234Z',
      id: 7,
      url: 'http://Bücher.example:8080/x',
      host: 'xn--bcher-kva.example',
      batch: null,
      waited_ms: 5,
    });
    expect(captureQueued(0, command(1, 'http://[::1]/')).host).toBe('::1');
  });

  it('reaches every observer in the order of the events, whatever an observer does on one', () => {
    const stream = createEventStream();
    const first: string[] = [];
    const second: string[] = [];
    stream.events$.subscribe((event) => {
      first.push(event.type);
      if (event.type === 'capture.queued') {
        stream.emit(captureRefused(0, command(1), failure('cancelled')));
      }
    });
    stream.events$.subscribe((event) => second.push(event.type));
    stream.emit(captureQueued(0, command(1)));
    expect(first).toEqual(['capture.queued', 'capture.rejected']);
    expect(second).toEqual(first);
  });
});

describe('counts', () => {
  it('counts ended captures by outcome, admitted ones, and separately those that were never admitted', () => {
    const { events$, emit, complete } = createEventStream();
    const { counts } = tallyEvents(events$);
    for (let id = 1; id <= 6; id++) {
      emit(captureQueued(0, command(id)));
    }
    emit(captureEnded(0, command(1), stored(command(1))));
    emit(captureEnded(0, command(2), { state: 'failed', failure: failure('internal'), result: null }));
    emit(captureEnded(0, command(3), { state: 'timed_out', failure: failure('capture_timeout'), result: null }));
    emit(captureEnded(0, command(4), { state: 'cancelled', failure: failure('cancelled') }));
    emit(captureEnded(0, command(5), { state: 'rejected', failure: failure('target_forbidden') }));
    emit(captureRefused(0, command(7), failure('queue_full')));
    emit(batchAccepted(0, BATCH, 1, 1));
    emit(batchCompleted(0, { ...BATCH, size: 1, done: 1, failed: 0 }));
    expect(counts.captures).toEqual({
      accepted: 6,
      stored: 1,
      failed: 1,
      timed_out: 1,
      cancelled: 1,
      rejected: 1,
      refused: 1,
      reused: 0,
      inside: 1,
    });
    expect(counts.batches).toEqual({ accepted: 1, completed: 1 });
    complete();
    emit(captureQueued(0, command(8)));
    expect(counts.captures.accepted).toBe(6);
  });
});
