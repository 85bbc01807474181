import { describe, expect, it } from 'vitest';
import type { CaptureOptions } from '../../src/capture/request.ts';
import { patience } from '../support/actor.ts';
import { htmlRequest } from '../support/capture-request.ts';
import { actorForSuite } from '../support/for-suite.ts';
import { IN_FEW_PIXELS } from '../support/site-and-actor.ts';

const running = actorForSuite();

/** More nodes than are described; they are hidden, so that they need no layout. */
const MANY_NODES = `<p hidden></p><script>document.querySelector('p').innerHTML = '<i>x</i>'.repeat(30000)</script>`;

const ariaOf = async (html: string) => {
  const { outputs } = await running.actor.capture(htmlRequest(html, { ...IN_FEW_PIXELS, outputs: ['aria'] }), patience);
  return outputs.aria;
};

describe('the output aria', () => {
  it('is the ARIA snapshot as Playwright writes it', async () => {
    const aria = await ariaOf(`<!doctype html><h1>Port</h1><nav aria-label="Main"><a href="/tides">Tides</a></nav>
      <label><input type=checkbox checked> Daily</label><p hidden>Unseen</p><iframe srcdoc="<p>Map"></iframe>`);
    expect(aria).toEqual({
      partial: false,
      content: `- heading "Port" [level=1]
- navigation "Main":
  - link "Tides":
    - /url: /tides
- checkbox "Daily" [checked]
- text: Daily
- iframe
`,
    });
  });

  it('is cut at 2 Mi characters', async () => {
    const script = `document.body.innerHTML = ('<p>' + 'word '.repeat(180)).repeat(2800)`;
    const aria = await ariaOf(`<!doctype html><body><script>${script}</script>`);
    expect(aria?.content.length).toBe(2 * 1024 * 1024 + 1);
    expect(aria?.partial).toBe(true);
  });

  it('is none for a page of more nodes than Playwright can describe in bounds', async () => {
    expect(await ariaOf(MANY_NODES)).toBeNull();
  });
});

describe('the output accessibility', () => {
  const treeOf = async (html: string, options: CaptureOptions = {}) => {
    const request = htmlRequest(html, { ...IN_FEW_PIXELS, outputs: ['accessibility'], ...options });
    const { accessibility } = (await running.actor.capture(request, patience)).outputs;
    return { nodes: accessibility && JSON.parse(String(accessibility.content)).nodes, partial: accessibility?.partial };
  };

  it.each([
    ['our driver', {}],
    ['Playwright', { waitForFunction: 'true' }],
  ])('is the tree of roles, names, values and states, by %s', async (_driver, options) => {
    const { nodes, partial } = await treeOf(
      `<!doctype html><title>Port</title><main><h2>Tides <b>today</b></h2><p aria-hidden=true>Unseen</p><div><button aria-description="soon">Leave</button></div>
       <input aria-label=Berth value=12><input type=checkbox checked aria-label=Daily></main>`,
      options,
    );
    expect(partial).toBe(false);
    expect(nodes[0]).toMatchObject({ id: 0, parent: null, role: 'RootWebArea', name: 'Port' });
    const parentOf = (name: string) => nodes[nodes.find((node: { name: string }) => node.name === name).parent].role;
    expect(nodes).toMatchObject(
      expect.arrayContaining([
        expect.objectContaining({ role: 'heading', name: 'Tides today', properties: { level: 2 } }),
        expect.objectContaining({ role: 'button', name: 'Leave', description: 'soon' }),
        expect.objectContaining({ role: 'textbox', name: 'Berth', value: '12' }),
        expect.objectContaining({ role: 'checkbox', properties: expect.objectContaining({ checked: 'true' }) }),
      ]),
    );
    expect([parentOf('Tides today'), parentOf('today'), parentOf('Berth')]).toEqual(['main', 'heading', 'main']);
    expect(JSON.stringify(nodes)).not.toMatch(/Unseen|InlineTextBox/);
  });

  it('has only the upper levels when the tree is too large for one answer, and is missing for too many nodes', async () => {
    const large = await treeOf(`<!doctype html><h1>Port</h1><main></main><script>
      document.querySelector('main').innerHTML = '${'<div role=group>'.repeat(30)}' + ('<b role=img aria-label="' + 'word'.repeat(1000) + '"></b>').repeat(1200)</script>`);
    expect(large.partial).toBe(true);
    expect(large.nodes).toContainEqual(expect.objectContaining({ role: 'heading', name: 'Port' }));
    expect((await treeOf(MANY_NODES)).nodes).toBeNull();
  });
});
