import { describe, expect, it } from 'vitest';
import type { CaptureOptions } from '../../src/capture/request.ts';
import { failureOf, patience } from '../support/actor.ts';
import { captureRequest } from '../support/capture-request.ts';
import { siteForSuite } from '../support/for-suite.ts';
import { type Colour, countOf, pngOf } from '../support/image.ts';
import { siteAndActor } from '../support/site-and-actor.ts';

const RED: Colour = [200, 0, 0, 255];
const GREEN: Colour = [0, 160, 0, 255];
const BLUE: Colour = [0, 0, 200, 255];
const CARD = 60 * 40;
const viewport = { width: 640, height: 480, deviceScaleFactor: 1 };

const ground = siteAndActor();
const otherPort = siteForSuite();

/** The outermost page is red, the frame of its origin green, and in it the frame of another site blue. */
function path({ page = {}, same = {}, cross = {} }: Readonly<Record<string, Record<string, string>>> = {}): string {
  const written = (own: Record<string, string>) => `/select?${new URLSearchParams(own)}`;
  const blue = otherPort.url(written({ colour: 'rgb(0,0,200)', ...cross })).replace('127.0.0.1', 'localhost');
  const green = ground.site.url(written({ colour: 'rgb(0,160,0)', of: blue, ...same }));
  return written({ of: green, ...page });
}

const capture = (overrides: CaptureOptions, at = path()) =>
  ground.running.actor.capture(captureRequest(ground.site.url(at), { viewport, ...overrides }), patience);

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
  it.each([
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
  ])('finds elements in open shadow roots and frames: %s', async (selector, colour) => {
    const png = pngOf(await capture({ selector }));
    expect([png.width, png.height, countOf(png, colour)]).toEqual([60, 40, CARD]);
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
