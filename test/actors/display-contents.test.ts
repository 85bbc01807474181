import { describe, expect, it } from 'vitest';
import type { CaptureOptions } from '../../src/capture/request.ts';
import { failureOf, patience } from '../support/actor.ts';
import { htmlRequest, LATE } from '../support/capture-request.ts';
import { actorForSuite } from '../support/for-suite.ts';
import { type Colour, countOf, pngOf } from '../support/image.ts';

const GOLD: Colour = [255, 215, 0, 255];
const MASK: Colour = [255, 0, 255, 255];

/** Elements that are drawn only by their content: they have no box of their own. */
const PAGE = `<!doctype html><meta charset=utf-8><style>
    * { margin: 0 } body { margin: 20px; font: 20px/40px sans-serif } .contents { display: contents }
    .gold { background: gold; height: 80px; width: 300px }
    .columns { display: grid; grid-template-columns: 200px 200px; height: 40px }
  </style>
  <my-island class=contents><div class=gold></div></my-island>
  <div class=columns><div class=contents id=both><p class=gold style="width:auto">A</p><p>B</p></div></div>
  <div class=contents id=nested><div class=contents><span class=contents>text alone</span></div></div>
  <my-host id=host><template shadowrootmode=open><slot id=slot></slot><slot name=other id=fallback><p>fallback</p></slot></template>
    <p class=gold>slotted</p></my-host>
  <div style="height:3000px"></div>
  <div class=contents id=far><div class=gold></div></div>
  <div class=contents id=empty></div>
  <div class=contents id=hidden><p style="visibility:hidden">hidden</p></div>
  <div style="display:none"><div class=contents id=absent>not drawn</div></div>
  <div class=contents id=clear style="visibility:hidden"><p style="visibility:visible" class=gold>seen</p></div>`;

const running = actorForSuite();
const capture = (options: CaptureOptions, html = PAGE) =>
  running.actor.capture(htmlRequest(html, { elementMap: false, ...options }), patience);

const NOT_DRAWN = ['#empty', '#hidden', '#absent'];

describe('an element with display: contents', () => {
  it('has the box around its visible content', async () => {
    const names = ['my-island', '#both', '#nested', '#slot', '#fallback', '#clear', ...NOT_DRAWN];
    const extract = Object.fromEntries(
      names.map((selector) => [selector.replaceAll('#', ''), { selector, type: 'box' as const }]),
    );
    const { outputs } = await capture({ extract, fullPage: true });
    const boxes = JSON.parse(String(outputs.extract?.content));
    expect(boxes['my-island']).toEqual({ x: 20, y: 20, width: 300, height: 80 });
    expect(boxes.both).toEqual({ x: 20, y: 100, width: 400, height: 80 });
    expect(boxes.nested).toMatchObject({ x: 20 });
    expect(boxes.nested.width).toBeGreaterThan(50);
    expect(boxes.nested.width).toBeLessThan(150);
    expect(boxes.slot).toMatchObject({ width: 300, height: 80 });
    expect(boxes.fallback).toMatchObject({ height: 40 });
    expect(boxes.clear).toMatchObject({ width: 300, height: 80 });
    for (const name of NOT_DRAWN) expect(boxes[name.slice(1)]).toBeNull();
  });

  it.each(['my-island', '#both', '#nested', '#slot', '#fallback', '#far', '#clear'])(
    'is visible to waitForSelector: %s',
    async (selector) => {
      expect(await capture({ waitForSelector: selector, ...LATE })).toMatchObject({ cutPhase: null });
    },
  );

  it.each(['my-island', '#far', '#clear'])('is captured by selector: %s', async (selector) => {
    const snapshot = await capture({ selector });
    expect([snapshot.width, snapshot.height]).toEqual([300, 80]);
    expect(countOf(await pngOf(snapshot), GOLD)).toBeGreaterThan(300 * 60);
  });

  it.each(NOT_DRAWN)('is not captured when its content is not visible: %s', async (selector) => {
    const error = await failureOf(capture({ selector }));
    expect(error).toMatchObject({ code: 'selector_not_found' });
    expect(error.message).toContain('is not visible');
  });

  it('is masked with its content', async () => {
    const png = await pngOf(await capture({ mask: ['my-island', '#both', '#slot'] }));
    expect(countOf(png, MASK)).toBe(300 * 80 + 400 * 80 + 300 * 80);
    expect(countOf(png, GOLD)).toBe(0);
  });

  it('is hidden with its content, even content that sets its own visibility', async () => {
    const png = await pngOf(await capture({ hide: ['my-island', '#both', '#slot', '#clear'], fullPage: true }));
    expect(countOf(png, GOLD)).toBe(300 * 80);
  });

  it('has text that failOnText finds', async () => {
    const html =
      '<!doctype html><title>x</title><body><main style="display:contents">Access denied by the harbour</main>';
    const error = await failureOf(capture({ failOnText: ['denied by the harbour'] }, html));
    expect(error).toMatchObject({ code: 'unwanted_text' });
  });
});
