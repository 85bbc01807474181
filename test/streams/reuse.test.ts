import { firstValueFrom, Observable, Subject } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import type { CapstanEvent } from '../../src/capture/events.ts';
import type { CaptureLimits } from '../../src/capture/operation/limits.ts';
import type { CaptureOutcome, StoredCapture } from '../../src/capture/outcome.ts';
import type { CaptureRequest } from '../../src/capture/request.ts';
import { createCapturePipeline, type SubmitOptions } from '../../src/streams/capture-pipeline.ts';
import { createDialStage } from '../../src/streams/dial-stage.ts';
import { createEventStream } from '../../src/streams/events.ts';
import { reusing } from '../../src/streams/reuse.ts';
import { heard, nameOf, request, stored } from './rig.ts';

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
  let finds = 0;
  const answer = reusing({
    capture: (_request, options) =>
      new Observable((subscriber) => {
        options?.onAdmitted?.();
        const page = new Subject<CaptureOutcome>();
        pages.push(page);
        open += 1;
        const inner = page.subscribe(subscriber);
        return () => {
          open -= 1;
          inner.unsubscribe();
        };
      }),
    find: async (_request, maxAgeMs) => {
      finds += 1;
      return kept !== undefined && kept.ageMs <= maxAgeMs ? kept.outcome : undefined;
    },
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
  return { answer, ask, finish, answers, events, told, pages, open: () => open, finds: () => finds };
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

/** Requests over a pipeline whose captures the test ends by name, and a store without captures. */
function overPipeline(limits: CaptureLimits, isDialling = false) {
  const performed: string[] = [];
  const ends = new Map<string, () => void>();
  const log: string[] = [];
  const events = createEventStream();
  const finds: (() => void)[] = [];
  let ids = 0;
  const dial = async () => ({ ms: 1, take: () => undefined, close: () => {} });
  const pipeline = createCapturePipeline({
    limits,
    ids: () => ++ids,
    events,
    perform: (command) => {
      const name = nameOf(command.request.target.url);
      const page = new Subject<CaptureOutcome>();
      performed.push(name);
      ends.set(name, () => {
        page.next(stored(command));
        page.complete();
      });
      return page;
    },
    report: (error) => {
      throw error;
    },
    // Its time stands still: captures that a test does not end have no deadline.
    scheduler: new TestScheduler(() => true),
    ...(isDialling && { dialling: { stage: createDialStage(8), applies: () => true, dial } }),
  });
  const answer = reusing({
    capture: pipeline.admit,
    find: () => new Promise((resolve) => finds.push(() => resolve(undefined))),
    keyOf: ({ target }) => target.url,
    events,
  });
  return {
    pipeline,
    performed,
    log,
    end: (name: string) => ends.get(name)?.(),
    ask: (name: string, under: SubmitOptions = {}) =>
      heard(answer({ ...request('shared'), cacheMaxAgeMs: MINUTE }, under), log, name),
    /** Ends the queries of the store that have begun. */
    look: async () => {
      for (const find of finds.splice(0)) find();
      await aTurn();
    },
  };
}

/** A batch with one place, and the client of an item that disconnects. */
function batchOf({ pipeline, ask }: Pick<ReturnType<typeof overPipeline>, 'pipeline' | 'ask'>) {
  const reservation = pipeline.admitBatch(1, () => {});
  const nothing = () => {};
  const item = { enter: reservation.enter, toDial: nothing, dialling: nothing, reached: nothing, ended: nothing };
  return {
    fill: () => reservation.enter(false, (place) => place?.join(nothing)),
    ask: (name: string): (() => void) => {
      const client = ask(name, { batch: 'b', item });
      return () => {
        reservation.release();
        client.unsubscribe();
      };
    },
  };
}

describe('a request that joined another one', () => {
  const ROOMY: CaptureLimits = { maxConcurrent: 4, maxQueue: 4 };

  it('captures the page for a joined request when the item of a batch that came first leaves before it has a place', async () => {
    const rig = overPipeline(ROOMY);
    const batch = batchOf(rig);
    batch.fill();
    const leave = batch.ask('first');
    await rig.look();
    rig.ask('joined');
    rig.ask('another');
    leave();
    // The other item of the batch keeps its place.
    expect(rig.pipeline.load).toMatchObject({ queued: 0, taken: 1 });
    await rig.look();
    rig.end('shared');
    expect(rig.log).toEqual(['joined stored', 'another stored']);
    expect(rig.performed).toEqual(['shared']);
  });

  it('captures the page for a joined request when the item of a batch that came first leaves before the store answers', async () => {
    const rig = overPipeline(ROOMY);
    const leave = batchOf(rig).ask('first');
    rig.ask('joined');
    leave();
    await rig.look();
    rig.end('shared');
    expect(rig.log).toEqual(['joined stored']);
  });

  for (const isDialling of [false, true]) {
    const which = isDialling ? 'whose target is dialled, ' : '';
    it(`keeps the capture of an item, ${which}that leaves with its place`, async () => {
      const rig = overPipeline(ROOMY, isDialling);
      const leave = batchOf(rig).ask('first');
      await rig.look();
      rig.ask('joined');
      leave();
      await rig.look();
      rig.end('shared');
      expect(rig.log).toEqual(['joined stored']);
      expect(rig.performed).toEqual(['shared']);
    });
  }

  it('is captured for its own key when the key of the first one has used up its share', async () => {
    const rig = overPipeline(ROOMY);
    for (const name of ['a', 'b', 'c', 'd']) rig.pipeline.admit(request(name), { owner: 'shop' }).subscribe();
    rig.ask('first', { owner: 'shop' });
    rig.ask('joined', { owner: 'news' });
    await rig.look();
    await rig.look();
    rig.end('a');
    rig.end('shared');
    expect(rig.log).toEqual(['first refused queue_full', 'joined stored']);
  });

  it('is refused when the queue is full, as all others are, each for its own reason', async () => {
    const rig = overPipeline({ maxConcurrent: 1, maxQueue: 0 });
    rig.pipeline.admit(request('a')).subscribe();
    const names = ['first', 'second', 'third', 'fourth', 'fifth'];
    for (const name of names) rig.ask(name);
    await rig.look();
    expect(rig.log).toHaveLength(1);
    await rig.look();
    await rig.look();
    expect(rig.log).toEqual(names.map((name) => `${name} refused queue_full`));
  });

  it('gets the outcome of the first one when that leaves with it', async () => {
    const { ask, answers, answer, finds } = setUp({ outcome: storedOutcome(7, request('a')), ageMs: 0 });
    const asked: CaptureRequest = { ...request('a'), cacheMaxAgeMs: MINUTE };
    const first = firstValueFrom(answer(asked));
    ask(asked);
    await first;
    await aTurn();
    expect(answers).toEqual([{ id: 7, cached: true }]);
    expect(finds()).toBe(1);
  });
});
