import { tmpdir } from 'node:os';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ComparisonSchema, MAX_COMPARED_PIXELS } from '../../src/capture/comparison/comparison.ts';
import { createComparisonThread } from '../../src/imaging/comparison/comparison-thread.ts';
import { putCapture } from '../storage/put-capture.ts';
import { serviceForSuite } from '../support/for-suite.ts';
import { NO_BROWSER } from '../support/service.ts';
import { failureOf } from './answers.ts';
import { resultOf } from './stored-capture.ts';
import { describeWithTenants, type TenantsOf } from './tenants.ts';

const Answer = z.object({ data: ComparisonSchema });
const Captured = z.object({ data: z.object({ id: z.number() }) });

const [FLOOD, SHOP] = ['flood-key', 'shop-key'];
const TOPICS = ['Harbours', 'Lighthouses and their keepers', 'Tides', 'Ropes, knots and splices', 'Charts'];
const BANNER = '<div style="height:40px;background:#124;color:#fff">Maintenance tonight</div>';

interface Page {
  readonly top?: string;
  readonly clock?: string;
  readonly topics?: readonly string[];
  readonly notice?: string;
}

function pageOf({ top = '', clock = '12:00:00', topics = TOPICS, notice = '' }: Page = {}): string {
  const items = topics.map(
    (topic) => `<article><h2>${topic}</h2><p>${`All about ${topic.toLowerCase()}. `.repeat(8)}</p></article>`,
  );
  return `<!doctype html><style>
    body { margin: 0; font: 16px sans-serif } header { background: #def; padding: 20px; height: 40px }
    main { display: flex } nav { width: 220px; padding: 20px } section { width: 700px; padding: 20px }
    article { border: 1px solid #999; margin: 0 0 20px; padding: 8px }
    h2 { font-size: 24px; line-height: 30px; margin: 10px 0 } p { line-height: 20px; margin: 10px 0 } footer { background: #eee; padding: 20px }
  </style>${top}<header>Sea <span id="clock">${clock}</span></header>
  <main><nav>${notice}<p>Home<p>Archive<p>About us<p>Contact</nav><section>${items.join('')}</section></main>
  <footer>The end</footer>`;
}

describeWithTenants((start, apiNodes) => {
  describe('GET /compare', () => {
    // Started by the first test, because a cluster cannot be started outside of one.
    let started: Promise<TenantsOf> | undefined;
    let captured: Promise<number> | undefined;
    const running = () => {
      started ??= start({});
      return started;
    };
    /** The capture of the page as it was. */
    const unchanged = () => {
      captured ??= capture(pageOf());
      return captured;
    };
    afterAll(async () => (await started)?.[Symbol.asyncDispose]());

    const headers = (key: string | undefined) => ({ 'X-API-Key': key ?? '' });
    async function capture(html: string, key = FLOOD): Promise<number> {
      const { one } = await running();
      const response = await one.post('/screenshot', { html, fullPage: true }, { headers: headers(key) });
      expect(response.status).toBe(200);
      return Captured.parse(await response.json()).data.id;
    }
    async function compare(a: number, b: number, key = FLOOD) {
      const { apps } = await running();
      return Promise.all(apps.map((app) => app.call(`/compare?a=${a}&b=${b}`, { headers: headers(key) })));
    }
    /** The comparison with the page as it was, which every node answers alike. */
    async function changesOf(changed: Page) {
      const before = await unchanged();
      const after = await capture(pageOf(changed));
      const answers = await compare(before, after);
      const [first, ...others] = await Promise.all(
        answers.map(async (response) => {
          expect(response.status).toBe(200);
          return Answer.parse(await response.json()).data;
        }),
      );
      if (first === undefined) throw new Error('there is no node');
      for (const other of others) expect(other).toEqual(first);
      return first;
    }

    it('finds one inserted region when a banner was inserted at the top', async () => {
      const { regions, share, changed_pixels } = await changesOf({ top: BANNER });
      expect(regions).toEqual([
        { kind: 'inserted', from: null, to: { x: 0, y: 0, width: 1280, height: 40 }, pixels: 1280 * 40 },
      ]);
      expect(changed_pixels).toBe(1280 * 40);
      expect(share).toBeLessThan(0.1);
    });

    it('finds which lines, links and facts differ, where both captures have the outputs', async () => {
      const { one } = await running();
      const shoot = (name: string, time: string) =>
        one.post(
          '/screenshot',
          {
            html: `<title>${name}</title><p>Sea</p><p>${name}</p><p>Updated ${time}</p><a href="https://example.com/${name}">More</a>`,
            outputs: ['text', 'links'],
          },
          { headers: headers(FLOOD) },
        );
      const [before, after] = [await shoot('Tides', '12:00'), await shoot('Ropes', '12:34')];
      const [a, b] = [Captured.parse(await before.json()).data.id, Captured.parse(await after.json()).data.id];
      const differing = async (query: string) => {
        const response = await one.call(`/compare?a=${a}&b=${b}${query}`, { headers: headers(FLOOD) });
        return Answer.parse(await response.json()).data;
      };
      expect(await differing('')).toMatchObject({
        title: { from: 'Tides', to: 'Ropes' },
        response_code: null,
        text: {
          added: 2,
          removed: 2,
          unified: expect.stringContaining('-Tides\n-Updated 12:00\n+Ropes\n+Updated 12:34\n'),
        },
        links: { added: ['https://example.com/Ropes'], removed: ['https://example.com/Tides'] },
      });
      const same = { added: 0, removed: 0, unified: '' };
      const ignore = '&ignore=text:Updated%20*&ignore=text:Tides&ignore=text:Ropes';
      expect(await differing(ignore)).toMatchObject({ title: null, text: same });
      expect(await changesOf({})).toMatchObject({ title: null, text: null, links: null });
    });

    it('names the elements that were inserted, removed, moved and edited, with what changed in them', async () => {
      const page = (parts: readonly string[], price: string, colour: string) =>
        `<!doctype html><body style="font:16px/20px sans-serif"><h1 id=price>${price}</h1>
         <p class=note style="background:${colour};padding:8px">Note</p><ul>${parts.map((part) => `<li>${part} of the harbour`).join('')}</ul>`;
      const before = await capture(page(['Charts', 'Ropes', 'Tides', 'Knots'], '12 EUR', '#def'));
      const after = await capture(page(['Tides', 'Charts', 'Ropes', 'Lamps and buoys', 'Knots'], '14 EUR', '#fa6'));
      const [answer] = await compare(before, after);
      const { elements, regions } = Answer.parse(await answer?.json()).data;
      expect(elements?.truncated).toBe(false);
      expect(elements?.changes.map(({ kind, selector }) => `${kind} ${selector}`)).toEqual([
        'edited #price',
        'edited .note',
        'moved html > body > ul > li:nth-of-type(1)',
        'inserted html > body > ul > li:nth-of-type(4)',
      ]);
      const [price, note, moved, inserted] = elements?.changes ?? [];
      expect(price).toMatchObject({ text: { from: '12 EUR', to: '14 EUR' }, style: [], image: null });
      const style = [{ property: 'background-color', from: 'rgb(221, 238, 255)', to: 'rgb(255, 170, 102)' }];
      expect(note).toMatchObject({ text: null, style });
      expect(regions.map(({ kind, from, to }) => ({ kind, from, to }))).toEqual([
        { kind: 'edited', from: expect.any(Object), to: expect.any(Object) },
        { kind: 'edited', from: note?.from, to: note?.to },
        { kind: 'moved', from: moved?.from, to: moved?.to },
        { kind: 'inserted', from: null, to: inserted?.to },
      ]);
    });

    it('leaves ignored elements out of regions, words, links and elements, and fails when there is no element map', async () => {
      const { one } = await running();
      const shoot = async (now: string, more: object = {}) => {
        const ad = `<div class="ad box"><a href="/ad/${now}">${`Buy ${now}. `.repeat(now.length)}</a></div>`;
        const html = `<!doctype html><body style="font:16px sans-serif"><p>Now <b class=clock>${now}</b></p>${ad}<p>1 ship</p>${'<p>12 ships</p>'.repeat(5)}`;
        const body = { html, fullPage: true, outputs: ['text', 'links'], ...more };
        const response = await one.post('/screenshot', body, { headers: headers(FLOOD) });
        return Captured.parse(await response.json()).data.id;
      };
      const [a, b, without] = [await shoot('1'), await shoot('12:34:56 h'), await shoot('1', { elementMap: false })];
      const ask = (other: number, ...selectors: readonly string[]) => {
        const ignore = selectors.map((each) => `&ignore=${encodeURIComponent(`selector:${each}`)}`).join('');
        return one.call(`/compare?a=${a}&b=${other}${ignore}`, { headers: headers(FLOOD) });
      };
      const whole = Answer.parse(await (await ask(b)).json()).data;
      expect([whole.regions.length > 0, whole.text?.added, whole.links?.added.length]).toEqual([true, 2, 1]);
      const { data } = Answer.parse(await (await ask(b, '.clock', 'body > div.ad')).json());
      expect(data).toMatchObject({
        regions: [],
        share: 0,
        elements: { changes: [] },
        text: { added: 0, removed: 0, unified: '' },
        links: { added: [], removed: [] },
      });
      const refused = await ask(without, '.clock');
      expect([refused.status, await failureOf(refused)]).toEqual([
        422,
        expect.objectContaining({ code: 'no_element_map' }),
      ]);
      expect(Answer.parse(await (await ask(without)).json()).data).toMatchObject({ regions: [], elements: null });
    });

    it('draws both images with the regions marked, for Accept: image/png, and answers 304 to its ETag', async () => {
      const { one } = await running();
      const a = await unchanged();
      const b = await capture(pageOf({ top: BANNER }));
      const draw = (also: object = {}) =>
        one.call(`/compare?a=${a}&b=${b}`, { headers: { ...headers(FLOOD), Accept: 'image/png', ...also } });
      const response = await draw();
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/png']);
      const drawing = sharp(Buffer.from(await response.arrayBuffer()));
      const { width } = await drawing.metadata();
      expect(width).toBe(1280 + 16 + 1280);
      const corner = await drawing.extract({ left: 1296, top: 0, width: 1, height: 1 }).raw().toBuffer();
      // The outline of the inserted banner is green.
      expect(corner[1]).toBeGreaterThan(corner[0] ?? 255);
      const etag = response.headers.get('etag') ?? '';
      expect((await draw({ 'If-None-Match': etag })).status).toBe(304);
    });

    it('answers 404 when one of the captures is that of another key', async () => {
      const before = await unchanged();
      const others = await capture(pageOf(), SHOP);
      for (const [a, b] of [
        [before, others],
        [others, before],
      ] as const) {
        for (const response of await compare(a, b)) {
          expect(response.status).toBe(404);
          expect(await failureOf(response)).toMatchObject({ code: 'not_found' });
        }
      }
      for (const response of await compare(others, others, SHOP)) expect(response.status).toBe(200);
    });

    // Images are compared in the same way, wherever they are stored.
    if (apiNodes === 1) {
      it('finds nothing in a page that did not change', async () => {
        expect(await changesOf({})).toMatchObject({ regions: [], share: 0, changed_pixels: 0, truncated: false });
      });

      it('finds one edited region, of the size of the text, when a clock went on', async () => {
        const { regions } = await changesOf({ clock: '12:34:56' });
        expect(regions).toEqual([
          expect.objectContaining({ kind: 'edited', to: expect.objectContaining({ y: expect.any(Number) }) }),
        ]);
        const [region] = regions;
        expect(region?.from).toEqual(region?.to);
        expect(region?.to?.width).toBeLessThan(60);
        expect(region?.to?.height).toBeLessThan(20);
      });

      it('finds one removed region when a block was removed beside a column that stayed', async () => {
        const { regions } = await changesOf({ topics: TOPICS.toSpliced(2, 1) });
        expect(regions).toEqual([{ kind: 'removed', from: expect.any(Object), to: null, pixels: expect.any(Number) }]);
        expect(regions[0]?.from).toMatchObject({ width: 700 });
      });

      it('finds one moved region, with both places, when two items of a list changed places', async () => {
        const [one = '', two = '', ...rest] = TOPICS;
        const { regions, share } = await changesOf({ topics: [two, one, ...rest] });
        expect(regions.map(({ kind }) => kind)).toEqual(['moved']);
        const [region] = regions;
        expect(region?.from?.y).not.toBe(region?.to?.y);
        expect(region?.from?.width).toBe(region?.to?.width);
        expect(share).toBe(0);
      });

      it('finds an insertion in one column, and an edit elsewhere, at once', async () => {
        const { regions } = await changesOf({
          clock: '12:34:56',
          notice: '<p style="background:#fd9">Closed today</p>',
        });
        expect(regions.map(({ kind }) => kind)).toEqual(['edited', 'inserted']);
        expect(regions[1]?.to?.width).toBe(220);
      });

      it('leaves out ignored kinds and rectangles, for captures that are there already', async () => {
        const before = await unchanged();
        const after = await capture(pageOf({ top: BANNER, clock: '12:34:56' }));
        const regionsWithout = async (ignore: string) => {
          const { one } = await running();
          const response = await one.call(`/compare?a=${before}&b=${after}${ignore}`, { headers: headers(FLOOD) });
          return Answer.parse(await response.json()).data.regions;
        };
        const [banner, clock] = await regionsWithout('');
        expect([banner?.kind, clock?.kind]).toEqual(['inserted', 'edited']);
        expect(await regionsWithout('&ignore=inserted')).toEqual([clock]);
        const half = { ...banner, pixels: 1280 * 20 };
        expect(await regionsWithout('&ignore=0,0,1280,20')).toEqual([half, clock]);
        const { x, y, width, height } = clock?.from ?? { x: 0, y: 0, width: 0, height: 0 };
        expect(await regionsWithout(`&ignore=inserted&ignore=${x},${y},${width},${height}`)).toEqual([]);
      });
    }
  });
});

describe('GET /compare', () => {
  const app = serviceForSuite(NO_BROWSER);
  const [SMALL, WIDE, PDF, HUGE, LIES, BROKEN, FIRST, SECOND] = [1, 2, 3, 4, 5, 6, 7, 8];

  const blank = (width: number, height: number) =>
    sharp({ create: { width, height, channels: 3, background: 'white' } })
      .png()
      .toBuffer();

  beforeAll(async () => {
    const keep = (id: number | undefined, image: Buffer, about = {}) =>
      putCapture(app.service.artifacts, resultOf(id ?? 0, about), { image, html: '' });
    await keep(SMALL, await blank(100, 80), { width: 100, height: 80 });
    await keep(WIDE, await blank(140, 80), { width: 140, height: 80 });
    await keep(PDF, Buffer.from('%PDF-'), { format: 'pdf' });
    await keep(HUGE, Buffer.from('never read'), { width: 1280, height: 1 + MAX_COMPARED_PIXELS / 1280 });
    // The record says less than the file has: a hostile page cannot write records, and the decoder has the bound too.
    await keep(LIES, await blank(8192, 4097), { width: 100, height: 80 });
    const image = await blank(100, 80);
    for (const [id, text, about] of [
      [FIRST, 'one\ntwo\nthree\n', { response_code: 200, verdict: 'content' }],
      [SECOND, 'two\nthree\none\n', { response_code: 500, verdict: 'error' }],
    ] as const) {
      const artifacts = { store: 'here', kinds: ['image', 'html', 'text'] as const };
      const record = resultOf(id ?? 0, { width: 100, height: 80, artifacts, ...about });
      await putCapture(app.service.artifacts, record, { image, html: '', text });
    }
    await keep(BROKEN, Buffer.from('not an image'), { width: 100, height: 80 });
  });

  it('shows the part that only the wider image has', async () => {
    const { data } = Answer.parse(await (await app.call(`/compare?a=${SMALL}&b=${WIDE}`)).json());
    expect(data).toMatchObject({
      regions: [{ kind: 'inserted', from: null, to: { x: 100, y: 0, width: 40, height: 80 } }],
      share: (40 * 80) / (140 * 80),
    });
  });

  it('shows another status and verdict, and lines in another order only where order matters', async () => {
    const { data } = Answer.parse(await (await app.call(`/compare?a=${FIRST}&b=${SECOND}`)).json());
    expect(data).toMatchObject({
      response_code: { from: 200, to: 500 },
      verdict: { from: 'content', to: 'error' },
      text: { added: 1, removed: 1 },
    });
    const free = await app.call(`/compare?a=${FIRST}&b=${SECOND}&order=any`);
    expect(Answer.parse(await free.json()).data.text).toMatchObject({ added: 0, removed: 0, unified: '' });
  });

  it.each([
    [PDF, 'not_an_image'],
    [HUGE, 'comparison_too_large'],
    [LIES, 'comparison_too_large'],
  ] as const)('refuses the capture %j with %s', async (id, code) => {
    const response = await app.call(`/compare?a=${SMALL}&b=${id}`);
    expect(response.status).toBe(422);
    expect(await failureOf(response)).toMatchObject({ code });
  });

  it('answers 500 for a file that is no image, and compares others afterwards', async () => {
    expect((await app.call(`/compare?a=${BROKEN}&b=${SMALL}`)).status).toBe(500);
    expect((await app.call(`/compare?a=${SMALL}&b=${SMALL}`)).status).toBe(200);
  });

  it('compares at once after a damaged image', async () => {
    const thread = createComparisonThread(async () => tmpdir());
    const image = await blank(100, 80);
    const compare = (file: Uint8Array) =>
      thread.compare({
        images: [new Uint8Array(file), new Uint8Array(image)],
        texts: null,
        links: null,
        maps: null,
        onlyElements: null,
        ignore: { rectangles: [], kinds: [], texts: [], selectors: [] },
        inAnyOrder: false,
        draws: false,
        places: false,
      });
    const damaged = compare(Buffer.from('not an image')).then(() => 'compared');
    // The thread of the damaged image has not ended yet.
    expect(await damaged.catch(() => compare(image))).toMatchObject({ visual: { regions: [], share: 0 } });
  });

  it.each([
    '',
    '?a=1',
    '?a=1&b=x',
    '?a=1&b=2&c=3',
    '?a=1&b=2&ignore=vanished',
    '?a=1&b=2&ignore=0,0,5',
    '?a=1&b=2&ignore=text:',
    '?a=1&b=2&ignore=selector:',
    '?a=1&b=2&ignore=selector:p:unknown',
    '?a=1&b=2&ignore=selector:xpath=//p',
    `?a=1&b=2&ignore=selector:${':is('.repeat(11)}p${')'.repeat(11)}`,
    `?a=1&b=2${'&ignore=selector:p:disabled'.repeat(50)}`,
    '?a=1&b=2&order=no',
  ])('answers 400 to /compare%s', async (query) => {
    expect((await app.call(`/compare${query}`)).status).toBe(400);
  });

  it('answers 404 for an unknown capture', async () => {
    expect((await app.call('/compare?a=1&b=999')).status).toBe(404);
  });

  it('reads what is ignored only when both captures exist', async () => {
    expect((await app.call('/compare?a=1&b=999&ignore=selector:p:unknown')).status).toBe(404);
  });
});
