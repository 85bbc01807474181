import { describe, expect, it } from 'vitest';
import { CapstanEventSchema } from '../../src/capture/events.ts';
import { digestNotice, sampleNotice } from '../../src/receivers/digest-notice.ts';
import type { NoticeSources, SharedUrls } from '../../src/receivers/notice-parts.ts';
import { sayEvent } from '../../src/receivers/say-event.ts';
import { exampleImage, exampleNotice, PNG } from './example-notice.ts';

const SHARED: SharedUrls = {
  page: 'https://c.example/shared/1',
  image: 'https://c.example/shared/1/image',
  later: 'https://c.example/shared/1/other',
  difference: 'https://c.example/shared/1/difference',
};

function sources(changes: Partial<NoticeSources> = {}): NoticeSources {
  return {
    publicUrl: 'https://c.example/',
    share: async () => null,
    readImage: async () => null,
    drawDifference: async () => null,
    ...changes,
  };
}

const CHANGED = {
  v: 1,
  type: 'watch.changed',
  at: '2026-11-29T14:00:00.000Z',
  watch: 7,
  url: 'https://shop.example/lamps?a=1',
  host: 'shop.example',
  labels: ['lamps', 'shop'],
  run: {
    state: 'changed',
    capture: 12,
    before: 11,
    changed: ['values'],
    share: null,
    regions: [],
    verdict: 'content',
    code: null,
    values: {},
    reason: 'price fell from €59.00 to €47.50',
  },
};
const withRun = (run: object) => ({ ...CHANGED, run: { ...CHANGED.run, ...run } });
const say = (event: object, changes?: Partial<NoticeSources>) => sayEvent(JSON.stringify(event), sources(changes));
const sentenceOf = async (event: object) => (await say(event)).sentence;

describe('the notice of a change', () => {
  it('says what became of the values, of which page, and when', async () => {
    const notice = await say(CHANGED);
    expect(notice).toMatchObject({
      about: 'shop.example/lamps?a=1',
      sentence: 'Price fell from €59.00 to €47.50',
      isProblem: false,
      facts: [
        { label: 'Labels', text: 'lamps, shop' },
        { label: 'Time', text: '2026-11-29 14:00 UTC' },
      ],
      links: [
        { label: 'Comparison', url: 'https://c.example/ui/compare?a=11&b=12' },
        { label: 'Page', url: 'https://shop.example/lamps?a=1' },
        { label: 'Watch', url: 'https://c.example/ui/watches/7' },
      ],
    });
    expect(notice.images.map(({ name, url }) => ({ name, url }))).toEqual([
      { name: 'difference', url: null },
      { name: 'after', url: null },
      { name: 'before', url: null },
    ]);
  });

  it('leads to shared pages and images, which need no key', async () => {
    const notice = await say(CHANGED, { share: async () => SHARED });
    expect(notice.links[0]).toEqual({ label: 'Comparison', url: SHARED.page });
    expect(notice.images.map(({ url }) => url)).toEqual([SHARED.difference, SHARED.later, SHARED.image]);
  });

  it('reads each image with the limits of the service', async () => {
    const asked: unknown[] = [];
    const limits = { maxBytes: 5, maxSide: 6 };
    const image = { bytes: PNG, mediaType: 'image/png' } as const;
    const { images } = await say(CHANGED, {
      readImage: async (id, given) => {
        asked.push([id, given]);
        return image;
      },
      drawDifference: async ({ before, after }, given) => {
        asked.push([before, after, given]);
        return image;
      },
    });
    for (const each of images) expect(await each.read(limits)).toEqual(image);
    expect(asked).toEqual([
      [11, 12, limits],
      [12, limits],
      [11, limits],
    ]);
  });

  it.each([
    [{ changed: ['visual'], share: 0.031, regions: [{}, {}], reason: null }, '2 regions changed, 3.1 % of the image'],
    [
      { changed: ['visual'], share: 0.0004, regions: [{}], reason: null },
      '1 region changed, less than 0.1 % of the image',
    ],
    [{ changed: ['text', 'title'], reason: null }, 'The text and the title changed'],
    [{ changed: ['verdict'], verdict: 'bot_wall', reason: null }, 'The page is now bot wall'],
    [
      { changed: ['values', 'visual', 'text'], share: 0.5, regions: [{}] },
      'Price fell from €59.00 to €47.50; 1 region changed, 50 % of the image; the text changed',
    ],
    [{ changed: [], reason: null }, 'The page has changed'],
  ])('says what changed: %j', async (run, sentence) => {
    expect(await sentenceOf(withRun(run))).toBe(sentence);
  });

  it('has no comparison when the capture before was removed', async () => {
    const { images, links } = await say(withRun({ before: null }));
    expect(images.map(({ name }) => name)).toEqual(['after']);
    expect(links[0]).toEqual({ label: 'Capture', url: 'https://c.example/ui/results/12' });
  });

  it('isolates text that runs from right to left', async () => {
    expect(await sentenceOf(withRun({ reason: 'stock is “متوفر”' }))).toBe('\u2068stock is “متوفر”\u2069');
  });

  it('is told although nothing can be shared', async () => {
    const share = () => Promise.reject(new Error('no room for another link'));
    expect((await say(CHANGED, { share })).links[0]?.label).toBe('Comparison');
  });

  it('links to the page alone without a URL of the service', async () => {
    const { links } = await say(CHANGED, { publicUrl: null });
    expect(links).toEqual([{ label: 'Page', url: 'https://shop.example/lamps?a=1' }]);
  });
});

/** Fields of events that are not what a test is about. */
const ANY = {
  ...{ at: CHANGED.at, id: 1, batch: 'b1', size: 2, done: 1, failed: 1, by: '', receiver: 'hooks.example' },
  ...{ reason: 'memory', accepting: true, degraded: [], result: null },
  failure: { code: 'navigation_failed', reason: 'connection refused' },
};

describe('the notice of another event', () => {
  it.each([
    [
      { ...withRun({ reason: '503 Service Unavailable' }), failure: undefined, type: 'watch.failed' },
      'The page cannot be captured any more: 503 Service Unavailable',
      true,
    ],
    [
      { ...withRun({ reason: null, verdict: 'bot_wall' }), failure: undefined, reason: '', type: 'watch.failed' },
      'The page cannot be captured any more: the page is bot wall',
      true,
    ],
    [{ ...CHANGED, type: 'watch.recovered' }, 'The page can be captured again', false],
    [
      { type: 'capture.stored', result: { id: 1, title: 'Lamps\n“x”', artifacts: {} } },
      'A capture was stored: “Lamps "x"”',
      false,
    ],
    [
      { type: 'capture.failed', failure: { code: 'x', reason: 'connection refused' } },
      'The capture failed: connection refused',
      true,
    ],
    [
      { type: 'batch.completed', batch: 'b1', size: 10, done: 10, failed: 1 },
      'All of 10 captures have ended, 1 failed',
      false,
    ],
    [
      { type: 'batch.completed', batch: 'b1', size: 2, done: 2, failed: 2 },
      'All of 2 captures have ended, 2 failed',
      true,
    ],
    [
      { type: 'pressure.changed', accepting: false, reason: 'memory is 95 % full' },
      'The service admits no captures: memory is 95 % full',
      true,
    ],
    [{ type: 'pressure.changed', accepting: true, reason: '' }, 'The service works as usual again', false],
    [
      { type: 'pressure.changed', accepting: true, degraded: ['database'] },
      'The database cannot be used: new captures wait on the disk',
      true,
    ],
    [{ type: 'browser.crashed', failure: undefined, reason: 'SIGSEGV' }, 'A browser ended unexpectedly: SIGSEGV', true],
    [{ type: 'something.new' }, 'something.new', false],
  ])('is a sentence: %j', async (event, sentence, isProblem) => {
    expect(await say({ ...ANY, ...event })).toMatchObject({ sentence, isProblem });
  });

  it.each(CapstanEventSchema.options.map(({ shape }) => shape.type.value))(
    'is more than the name of the type %s',
    async (type) => {
      const sentence = await sentenceOf({ ...CHANGED, ...ANY, type });
      expect(sentence).toMatch(/^[A-Z0-9 ]/i);
      expect(sentence).not.toContain(type);
    },
  );
});

describe('the notice of an event of another version of the service', () => {
  it.each(CapstanEventSchema.options.map(({ shape }) => shape.type.value))(
    'is made without any other field: %s',
    async (type) => {
      expect(await say({ type })).toMatchObject({ about: 'Capstan', facts: [], links: [], images: [] });
    },
  );

  it.each([
    { ...CHANGED, run: undefined },
    withRun({ changed: ['visual'], regions: undefined }),
    { ...CHANGED, ...ANY, type: 'pressure.changed', degraded: undefined },
  ])('has the bare type as its sentence when a field is missing, and the rest of the event: %#', async (event) => {
    const notice = await say(event);
    expect(notice).toMatchObject({ sentence: event.type, isProblem: false, about: 'shop.example/lamps?a=1' });
    expect(notice.facts).toHaveLength(2);
  });
});

describe('a digest', () => {
  const notices = Array.from({ length: 20 }, (_, at) =>
    exampleNotice({ about: `shop.example/${at % 3}`, isProblem: at === 3, images: [exampleImage('difference')] }),
  );

  it('has the first lines, and says how many are left', () => {
    const digest = digestNotice(notices, 5);
    expect(digest.sentence).toBe('25 messages about 3 or more pages');
    expect(digest.facts).toHaveLength(9);
    expect(digest.facts[0]).toEqual({ label: '1', text: 'shop.example/0: Price fell from €59.00 to €47.50' });
    expect(digest.facts.at(-1)).toEqual({ label: 'More', text: 'and 17 more' });
    expect(digest.links[0]).toMatchObject({ label: 'Comparison 1' });
    expect(digest).toMatchObject({ isProblem: true, images: [{}, {}, {}] });
  });

  it('says no more when all are shown', () => {
    expect(digestNotice(notices.slice(0, 2))).toMatchObject({ sentence: '2 messages about 2 pages', facts: [{}, {}] });
  });
});

describe('a sample', () => {
  it('names the receiver and links to the watches', () => {
    expect(sampleNotice('team', 'https://c.example')).toMatchObject({
      sentence: 'This is a test message for the receiver team',
      links: [{ url: 'https://c.example/ui/watches' }],
    });
  });
});
