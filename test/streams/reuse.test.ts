import { Observable, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { CapstanEvent } from '../../src/capture/events.ts';
import type { CaptureOutcome, StoredCapture } from '../../src/capture/outcome.ts';
import type { CaptureRequest } from '../../src/capture/request.ts';
import { createEventStream } from '../../src/streams/events.ts';
import { reusing } from '../../src/streams/reuse.ts';
import { request, stored } from './rig.ts';

const MINUTE = 60_000;

function storedOutcome(id: number, asked: CaptureRequest): StoredCapture {
  const outcome = stored({ id, request: asked });
  if (outcome.state !== 'stored') throw new Error('it is not stored');
  return outcome;
}

/** Requests over pages that the test completes by hand, and over a store with one capture or none. */
function setUp(kept?: { readonly outcome: StoredCapture; readonly ageMs: number }) {
  const stream = createEventStream();
  const events: CapstanEvent[] = [];
  const told: (string | undefined)[] = [];
  stream.events$.subscribe((event) => events.push(event));
  stream.addressed$.subscribe(({ to }) => to && told.push(to.callback));
  const pages: Subject<CaptureOutcome>[] = [];
  let open = 0;
  const answer = reusing({
    capture: () =>
      new Observable((subscriber) => {
        const page = new Subject<CaptureOutcome>();
        pages.push(page);
        open += 1;
        const inner = page.subscribe(subscriber);
        return () => {
          open -= 1;
          inner.unsubscribe();
        };
      }),
    find: async (_request, maxAgeMs) => (kept !== undefined && kept.ageMs <= maxAgeMs ? kept.outcome : undefined),
    keyOf: ({ target }) => target.url,
    events: stream,
  });
  const answers: { readonly id: number; readonly cached: boolean }[] = [];
  const ask = (asked: CaptureRequest) =>
    answer(asked).subscribe((outcome) => {
      if (outcome.state === 'stored') answers.push({ id: outcome.result.id, cached: outcome.result.cached });
    });
  const finish = (at: number, id: number, asked: CaptureRequest) => {
    pages[at]?.next(storedOutcome(id, asked));
    pages[at]?.complete();
  };
  return { ask, finish, answers, events, told, pages, open: () => open };
}

/** The store is queried first, which takes one turn of the event loop. */
const aTurn = () => new Promise((resolve) => setImmediate(resolve));

describe('a request with cacheMaxAgeMs', () => {
  const plain = request('a');
  const lenient: CaptureRequest = { ...plain, cacheMaxAgeMs: MINUTE };

  it('answers with a stored capture that is young enough, marked as cached, without a new capture', async () => {
    const { ask, answers, events, pages } = setUp({ outcome: storedOutcome(7, plain), ageMs: MINUTE });
    ask(lenient);
    await aTurn();
    expect(answers).toEqual([{ id: 7, cached: true }]);
    expect(pages).toHaveLength(0);
    expect(events).toMatchObject([{ type: 'capture.reused', id: 7, url: plain.target.url, result: { cached: true } }]);
  });

  it('captures again when the stored capture is too old', async () => {
    const { ask, finish, answers, events } = setUp({ outcome: storedOutcome(7, plain), ageMs: MINUTE + 1 });
    ask(lenient);
    await aTurn();
    finish(0, 8, lenient);
    expect(answers).toEqual([{ id: 8, cached: false }]);
    expect(events).toEqual([]);
  });

  it('joins an equal capture in progress', async () => {
    const { ask, finish, answers, pages, events } = setUp();
    ask(lenient);
    ask(lenient);
    await aTurn();
    ask(lenient);
    expect(pages).toHaveLength(1);
    finish(0, 9, lenient);
    expect(answers).toEqual([
      { id: 9, cached: false },
      { id: 9, cached: true },
      { id: 9, cached: true },
    ]);
    expect(events.map(({ type }) => type)).toEqual(['capture.reused', 'capture.reused']);
    ask(lenient);
    await aTurn();
    expect(pages).toHaveLength(2);
  });

  it('shares the new capture of a request with a larger cacheMaxAgeMs, but no result that is too old', async () => {
    const strict = { ...lenient, cacheMaxAgeMs: 1000 };
    const hit = setUp({ outcome: storedOutcome(7, plain), ageMs: MINUTE });
    hit.ask(lenient);
    hit.ask(strict);
    await aTurn();
    hit.finish(0, 8, strict);
    expect(hit.answers).toEqual([
      { id: 7, cached: true },
      { id: 8, cached: false },
    ]);

    const miss = setUp();
    miss.ask(lenient);
    await aTurn();
    miss.ask(strict);
    await aTurn();
    expect(miss.pages).toHaveLength(1);
  });

  it('does not join a request with other options', async () => {
    const { ask, pages } = setUp();
    ask(lenient);
    ask({ ...request('b'), cacheMaxAgeMs: MINUTE });
    await aTurn();
    expect(pages).toHaveLength(2);
  });

  it('cancels a shared capture when the last request leaves', async () => {
    const { ask, open } = setUp();
    const [first, second] = [ask(lenient), ask(lenient)];
    await aTurn();
    first.unsubscribe();
    expect(open()).toBe(1);
    second.unsubscribe();
    expect(open()).toBe(0);
  });

  it('captures nothing when the client leaves before the store has answered', async () => {
    const { ask, pages } = setUp();
    ask(lenient).unsubscribe();
    await aTurn();
    expect(pages).toHaveLength(0);
  });

  it('notifies its own callback of the reuse, and joins no capture that notifies another callback', async () => {
    const callback = 'https://receiver.example/';
    const hit = setUp({ outcome: storedOutcome(7, plain), ageMs: 0 });
    hit.ask({ ...lenient, callback });
    await aTurn();
    expect(hit.told).toEqual([callback]);

    const miss = setUp();
    miss.ask(lenient);
    miss.ask({ ...lenient, callback });
    await aTurn();
    expect(miss.pages).toHaveLength(2);
  });
});
