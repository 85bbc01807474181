import { describe, expect, it } from 'vitest';
import { patience } from '../support/actor.ts';
import { htmlRequest } from '../support/capture-request.ts';
import { actorForSuite } from '../support/for-suite.ts';
import { pixelsOf } from '../support/image.ts';

const PAGE = `<!doctype html><html lang=en class="a&amp;b"><title>Shadow trees</title><h1>Light</h1>
  <x-card><h3 slot=title>Slotted</h3></x-card><y-nested></y-nested>
  <z-sent><template shadowrootmode=open shadowrootdelegatesfocus><style>p { background: rgb(160, 0, 160) }</style><p>Sent by the server</p><slot></slot></template>In its slot</z-sent>
  <div id=plain></div><script>
    customElements.define('x-card', class extends HTMLElement { constructor() { super(); this.attachShadow({ mode: 'open' }).innerHTML =
      '<style>:host { display: block; border: 3px solid rgb(0, 120, 0) }</style><slot name=title></slot><p title="1 &lt; 2">Card</p>' } });
    customElements.define('y-nested', class extends HTMLElement { constructor() { super(); this.attachShadow({ mode: 'open' }).innerHTML = '<x-card><h3 slot=title>Nested</h3></x-card>' } });
    document.querySelector('#plain').attachShadow({ mode: 'open' }).innerHTML = '<b>In a plain element</b>';
    document.currentScript.remove()</script></html>`;

describe('the HTML snapshot', () => {
  const running = actorForSuite();
  const capture = (html: string) => running.actor.capture(htmlRequest(html), patience);

  it('has open shadow trees as declarative ones, and looks like the page without its scripts', async () => {
    const { html, image } = await capture(PAGE);
    const text = String(html);
    expect(text).toMatch(/^<!DOCTYPE html>\n<html lang="en" class="a&amp;b"><head>.*<\/html>$/s);
    expect(text.match(/<template shadowrootmode="open"/g)).toHaveLength(5);
    expect(text).toContain('<y-nested><template shadowrootmode="open"><x-card><template shadowrootmode="open"><style>');
    expect(text).toContain('shadowrootdelegatesfocus=""><style>p { background: rgb(160, 0, 160) }</style>');
    expect(text).toContain(
      '<div id="plain"><template shadowrootmode="open"><b>In a plain element</b></template></div>',
    );
    const [live, opened] = [await pixelsOf(image), await pixelsOf((await capture(text)).image)];
    expect(Buffer.compare(live.data, opened.data)).toBe(0);
  });

  it.each([
    ['200 shadow trees in each other', 200, 'tree'],
    ['6,000 shadow trees beside each other', 6_000, 'document.body'],
  ])('is made of %s', async (_, many, parent) => {
    const script = `let tree = document.body; for (let at = 0; at < ${many}; at += 1) {
      const host = document.createElement('div'); ${parent}.append(host); tree = host.attachShadow({ mode: 'open' }) }`;
    const { html, cutPhase } = await capture(`<!doctype html><title>Many</title><p>End</p><script>${script}</script>`);
    expect(cutPhase).toBeNull();
    expect(String(html)).toMatch(/shadowrootmode.*<\/html>$/s);
  });
});
