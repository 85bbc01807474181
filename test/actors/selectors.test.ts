import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CaptureOptions } from '../../src/capture/request.ts';
import { failureOf, patience, type RunningActor, startActor } from '../support/actor.ts';
import { browserStartedBy } from '../support/browser-script.ts';
import { captureRequest, htmlRequest } from '../support/capture-request.ts';
import { siteForSuite } from '../support/for-suite.ts';
import { type Colour, colourAt, countOf, placeOf, pngOf } from '../support/image.ts';
import { siteAndActor } from '../support/site-and-actor.ts';

const RED: Colour = [200, 0, 0, 255];
const GREEN: Colour = [0, 160, 0, 255];
const BLUE: Colour = [0, 0, 200, 255];
const MASK: Colour = [255, 0, 255, 255];
const CARD = 60 * 40;
const viewport = { width: 640, height: 480, deviceScaleFactor: 1 };

const ground = siteAndActor();
const otherPort = siteForSuite();

type Queries = Readonly<Record<'page' | 'same' | 'cross', Readonly<Record<string, string>>>>;

/** The outermost page is red, the frame of its origin green, and in it the frame of another site blue. */
function path({ page, same, cross }: Partial<Queries> = {}): string {
  const written = (own: Readonly<Record<string, string>>) => `/select?${new URLSearchParams(own)}`;
  const blue = otherPort.url(written({ colour: 'rgb(0,0,200)', ...cross })).replace('127.0.0.1', 'localhost');
  const green = ground.site.url(written({ colour: 'rgb(0,160,0)', of: blue, ...same }));
  return written({ of: green, ...page });
}

const capture = (overrides: CaptureOptions, at = path(), { actor } = ground.running) =>
  actor.capture(captureRequest(ground.site.url(at), { viewport, elementMap: false, ...overrides }), patience);

describe('a selector that the browser refuses', () => {
  it('fails the capture with the option and the selector, before the target is asked', async () => {
    const bad = 'p:nope';
    const error = await failureOf(
      capture(
        {
          selector: `main >> ${bad}`,
          waitForSelector: '(1 + 1)',
          hide: ['p', bad],
          mask: ['::before::x'],
          actions: [{ type: 'click', selector: bad }],
          form: { selector: '//form[@]', fields: {} },
          markdown: { selector: bad },
          outputs: ['markdown'],
        },
        '/short',
      ),
    );
    const why = 'the browser refuses it; it must be CSS or XPath, in steps separated by >>';
    expect(error.code).toBe('invalid_request');
    expect(error.problems).toEqual([
      { path: 'selector', message: `"main >> p:nope" is no selector: ${why}` },
      { path: 'waitForSelector', message: `"(1 + 1)" is no selector: ${why}` },
      { path: 'hide[1]', message: `"p:nope" is no selector: ${why}` },
      { path: 'mask[0]', message: `"::before::x" is no selector: ${why}` },
      { path: 'actions[0].selector', message: `"p:nope" is no selector: ${why}` },
      { path: 'form.selector', message: `"//form[@]" is no selector: ${why}` },
      { path: 'markdown.selector', message: `"p:nope" is no selector: ${why}` },
    ]);
    expect(ground.site.hits('/short')).toBe(0);
  });
});

describe('a selector', () => {
  it('finds elements in open shadow roots and frames', async () => {
    const wanted: readonly (readonly [selector: string, colour: Colour])[] = [
      ['.card', RED],
      ['article .card', RED],
      ['article.light > x-outer section > x-inner > .card', RED],
      ['p, article .card', RED],
      ['css=article >> section >> .card', RED],
      ['//article >> .card', RED],
      ['iframe.pay >> .card', GREEN],
      ['//iframe >> article .card', GREEN],
      ['iframe >> iframe.pay >> x-outer .card', BLUE],
      ['body >> iframe >> iframe >> section >> .card', BLUE],
    ];
    const boxes = wanted.map(([selector], at) => [`card${at}`, { selector, type: 'box' }] as const);
    const snapshot = await capture({ extract: Object.fromEntries(boxes) });
    const png = await pngOf(snapshot);
    const found = Object.values(JSON.parse(String(snapshot.outputs.extract?.content)));
    expect(found).toEqual(wanted.map(([, [red, green, blue]]) => placeOf(png, [red, green, blue], 0)));
    expect(countOf(png, RED) + countOf(png, GREEN) + countOf(png, BLUE)).toBe(3 * CARD);
  });

  it.each([
    ['iframe >> iframe.pay >> x-outer .card', BLUE],
    ['//article >> .card', RED],
  ])('selects the element of the image: %s', async (selector, colour) => {
    const png = await pngOf(await capture({ selector }));
    expect([png.width, png.height, countOf(png, colour)]).toEqual([60, 40, CARD]);
  });

  it('finds nothing where a selector does not reach', async () => {
    const selectors = [
      // In closed shadow roots.
      '.secret',
      'x-closed p',
      'iframe >> .secret',
      // By XPath in open ones, and in frames without a step.
      '//x-inner/div',
      'body >> //iframe//div',
      // Outside of the step before it.
      'section >> article .card',
      '.light iframe >> p',
    ];
    const rules = Object.fromEntries(selectors.map((selector, at) => [`rule${at}`, selector]));
    const { outputs } = await capture({ extract: rules });
    expect(Object.values(JSON.parse(String(outputs.extract?.content)))).toEqual(selectors.map(() => null));
    expect(await failureOf(capture({ selector: 'iframe >> .secret' }))).toMatchObject({
      code: 'selector_not_found',
      message: 'the page has no element that matches "iframe >> .secret"',
    });
  });

  it('finds the first element in the order of the page, across shadow roots', async () => {
    const shadow = (content: string) => `<template shadowrootmode="open">${content}</template>`;
    const box = (colour: string) => `<p class="box" style="width:30px;height:20px;background:${colour}"></p>`;
    const html = `<div>${shadow(`<div>${shadow(box('rgb(200,0,0)'))}</div>${box('rgb(0,160,0)')}<slot></slot>`)}${box('rgb(0,0,200)')}</div>`;
    const first = await ground.running.actor.capture(htmlRequest(html, { selector: '.box', viewport }), patience);
    expect(countOf(await pngOf(first), RED)).toBe(30 * 20);
    const below = await ground.running.actor.capture(
      htmlRequest(html, { selector: 'body > div > .box', viewport }),
      patience,
    );
    expect(countOf(await pngOf(below), GREEN)).toBe(30 * 20);
  });
});

/** Borders, paddings, scroll positions and transforms between the page and the cards in its frames. */
const PLACED: Queries = {
  page: {
    frame:
      'margin:30px 0 0 40px;border:7px solid;padding:5px 9px;transform:translate(20px,10px) scale(1.5);transform-origin:0 0',
  },
  same: {
    card: 'top:700px',
    style: 'body{height:1500px}',
    frame:
      'position:absolute;left:16px;top:620px;width:200px;height:120px;border:4px solid;transform:scale(.5);transform-origin:0 0',
  },
  cross: { card: 'top:900px;left:500px', style: 'body{height:2000px;width:2000px}' },
};

describe.each([
  ['frames that share a process', ''],
  ['frames in processes of their own', '--site-per-process'],
])('%s', (_, flag) => {
  let running: RunningActor;
  beforeAll(async () => {
    running = await startActor({ browserPath: await browserStartedBy((browser) => `exec ${browser} ${flag} "$@"`) });
  });
  afterAll(() => running.stop());

  it.each([
    ['iframe >> .card', GREEN, 1.5, 1],
    ['iframe >> iframe >> .card', BLUE, 0.75, 1],
    ['iframe >> iframe >> .card', BLUE, 0.75, 2],
  ])(
    'show an element at its place, through scrolling, borders and transforms: %s in %j at %f and %f',
    async (selector, colour, scale, deviceScaleFactor) => {
      const options = { selector, viewport: { ...viewport, deviceScaleFactor } };
      const png = await pngOf(await capture(options, path(PLACED), running));
      const size = [60, 40].map((side) => side * scale * deviceScaleFactor);
      expect([png.width, png.height]).toEqual(size);
      // The browser blends the edges of a scaled frame with what is around it.
      expect(countOf(png, colour)).toBeGreaterThanOrEqual((png.width - 2) * (png.height - 2));
    },
  );

  it('show only the part of an element that its frames show', async () => {
    const at = path({ same: { card: 'left:380px;width:600px' } });
    const png = await pngOf(await capture({ selector: 'iframe >> .card' }, at, running));
    expect([png.width, png.height]).toEqual([400, 40]);
  });

  it('works in the rules of extract, also nested ones, with boxes where the elements are', async () => {
    const box = { type: 'box' } as const;
    const extract = {
      same: { selector: 'iframe >> .card', ...box },
      cross: { selector: 'iframe >> iframe >> .card', ...box },
      outer: { selector: '.card', ...box, many: true },
      button: 'iframe >> iframe >> x-outer button',
      fields: {
        selector: 'body >> iframe >> body',
        rules: { names: { selector: '//iframe >> [name]', attribute: 'type', many: true }, words: 'button' },
      },
      nothing: 'iframe >> article .secret',
    };
    const snapshot = await capture({ extract }, path({ page: PLACED.page }), running);
    const { same, cross, outer, ...values } = JSON.parse(String(snapshot.outputs.extract?.content));
    expect(values).toEqual({
      button: 'Click',
      fields: { names: [null, 'radio', 'radio'], words: 'Click' },
      nothing: null,
    });
    expect(outer).toHaveLength(1);
    const png = await pngOf(snapshot);
    expect(same).toEqual(placeOf(png, [0, 160, 0], 60));
    expect(cross).toEqual(placeOf(png, [0, 0, 200], 60));
  });

  it('are masked and hidden where their elements are, and nowhere else', async () => {
    const at = path({ page: PLACED.page });
    const seen = await pngOf(await capture({}, at, running));
    const places = [GREEN, BLUE].map(([red, green, blue]) => placeOf(seen, [red, green, blue], 0));
    const frames = ['iframe >> .card', 'iframe >> iframe >> .card'];
    const masked = await pngOf(await capture({ mask: frames }, at, running));
    expect([countOf(masked, GREEN), countOf(masked, BLUE), countOf(masked, RED)]).toEqual([0, 0, CARD]);
    expect(countOf(masked, MASK)).toBe(countOf(seen, GREEN) + countOf(seen, BLUE));
    for (const place of places) expect(colourAt(masked, place?.x ?? 0, place?.y ?? 0)).toEqual(MASK);
    for (const option of ['hide', 'collapse'] as const) {
      const hidden = await pngOf(await capture({ [option]: frames }, at, running));
      expect([countOf(hidden, GREEN), countOf(hidden, BLUE), countOf(hidden, RED)]).toEqual([0, 0, CARD]);
    }
  });
});

describe('frames of a hostile page', () => {
  it('fails with page_too_large when a selector enters more than 100 frames', async () => {
    const of = (count: number) => htmlRequest('<iframe></iframe>'.repeat(count), { mask: ['iframe >> p'] });
    const { actor } = ground.running;
    expect(await actor.capture(of(100), patience)).toMatchObject({ cutPhase: null });
    const { code, message } = await failureOf(actor.capture(of(101), patience));
    expect([code, message]).toEqual(['page_too_large', '"iframe >> p" enters more than 100 frames']);
  });

  it('are masked whatever document of whatever origin they show by then, or the capture fails', async () => {
    const own = ground.site.url('/select?');
    const other = otherPort.url('/select?').replace('127.0.0.1', 'localhost');
    const html = `<iframe src="${own}"></iframe><script>let count = 0;
      setInterval(() => { document.querySelector('iframe').src = (count++ % 2 ? '${own}' : '${other}') + count; }, 50)</script>`;
    // Enough for many documents; the page costs CPU time until its deadline.
    const options = { mask: ['iframe >> .card'], allowNetwork: true, viewport, timeoutMs: 15_000 } as const;
    const captures = Array.from({ length: 2 }, () =>
      ground.running.actor.capture(htmlRequest(html, options), patience),
    );
    for (const outcome of await Promise.allSettled(captures)) {
      if (outcome.status === 'fulfilled') expect(countOf(await pngOf(outcome.value), RED)).toBe(0);
      else expect(outcome.reason).toMatchObject({ code: 'capture_timeout' });
    }
  });
});

describe('an action on several matches', () => {
  const hidden = (tag: string) => `<${tag} class=it style="display:none">hidden</${tag}>`;
  const page = `<title>none</title><script>onscroll = () => document.body.setAttribute('data-at', scrollY)</script>${hidden('button')}<button class=it onclick="document.title = 'clicked'">Menu</button>
    ${hidden('input')}<input class=it onkeypress="document.title += event.key">
    ${hidden('article')}<article class=it style="height:50px;overflow:auto" onscroll="this.setAttribute('data-top', this.scrollTop)"><p style="height:2000px">Long</article>
    <p style="height:3000px">${hidden('footer')}<footer class=it>End</footer>`;
  const acted = async (actions: CaptureOptions['actions'], html = page, options: CaptureOptions = {}) => {
    const {
      title,
      html: after,
      outputs,
    } = await ground.running.actor.capture(htmlRequest(html, { actions, ...options }), patience);
    return { title, after: String(after), markdown: String(outputs.markdown?.content) };
  };

  it('acts on the first visible match', async () => {
    const { title, after } = await acted([
      { type: 'wait', selector: '.it' },
      { type: 'click', selector: 'button.it' },
      { type: 'type', selector: 'input.it', text: 'a' },
      { type: 'press', selector: 'input.it', key: 'b' },
      { type: 'scroll', selector: 'footer.it' },
      { type: 'wait', selector: '[data-at]' },
    ]);
    expect(title).toBe('clickedab');
    expect(Number(/data-at="(\d+)/.exec(after)?.[1])).toBeGreaterThan(1000);
  });

  it('acts on the first visible match in frames and shadow roots', async () => {
    const framed = (html: string) => `<iframe srcdoc="${html.replaceAll('"', '&quot;')}"></iframe>`;
    const button = `<button class=it onclick="top.document.title += 'clicked'">Menu</button>`;
    const shadow = `<x-host><template shadowrootmode=open>${hidden('button')}${button}</template></x-host>`;
    const html = `<title>-</title>${framed(hidden('button'))}${framed(shadow)}${shadow}`;
    const { title } = await acted(
      [
        { type: 'click', selector: 'iframe >> button.it' },
        { type: 'click', selector: 'x-host .it' },
      ],
      html,
    );
    expect(title).toBe('-clickedclicked');
  });

  it('scrolls the first visible one by pixels, and Markdown is of the first visible one', async () => {
    const actions: CaptureOptions['actions'] = [
      { type: 'scroll', selector: 'article.it', y: 250 },
      { type: 'wait', selector: '[data-top]' },
    ];
    const { after, markdown } = await acted(actions, page, {
      outputs: ['markdown'],
      markdown: { selector: 'article.it' },
    });
    expect(after).toContain('data-top="250"');
    expect(markdown).toContain('Long');
  });
});

describe('an action', () => {
  it.each([
    ['', 'rgb(200,0,0)'],
    ['iframe.pay >> ', 'rgb(0,160,0)'],
    ['iframe >> iframe.pay >> ', 'rgb(0,0,200)'],
  ])('clicks, types and fills in forms in shadow roots and frames: %s', async (frame, colour) => {
    const { title, cutPhase } = await capture({
      actions: [
        { type: 'click', selector: `${frame}article .button` },
        { type: 'type', selector: `${frame}//body >> input[name=note]`, text: 'typed' },
        { type: 'press', key: 'Enter', selector: `${frame}x-outer >> [name=note]` },
      ],
      form: { selector: `${frame}x-inner > form`, fields: { note: 'filled', kind: 'b' } },
      waitForSelector: `${frame}x-inner .card`,
    });
    expect([title, cutPhase]).toEqual([
      `Select; clicked ${colour}; sent typed ${colour}; sent filled b ${colour}`,
      null,
    ]);
  });
});
