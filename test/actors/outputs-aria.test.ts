import { describe, expect, it } from 'vitest';
import { patience } from '../support/actor.ts';
import { htmlRequest } from '../support/capture-request.ts';
import { actorForSuite } from '../support/for-suite.ts';

const running = actorForSuite();

const ariaOf = async (html: string) => {
  const { outputs } = await running.actor.capture(htmlRequest(html, { outputs: ['aria'] }), patience);
  return outputs.aria;
};

describe('the output aria', () => {
  it('is the ARIA snapshot as Playwright writes it', async () => {
    const aria = await ariaOf(`<!doctype html><h1>Port</h1><nav aria-label="Main"><a href="/tides">Tides</a></nav>
      <label><input type=checkbox checked> Daily</label><p hidden>Unseen</p>`);
    expect(aria).toEqual({
      partial: false,
      content: `- heading "Port" [level=1]
- navigation "Main":
  - link "Tides":
    - /url: /tides
- checkbox "Daily" [checked]
- text: Daily
`,
    });
  });

  it('is none for a page of more nodes than Playwright can describe in bounds', async () => {
    expect(await ariaOf(`<p>x</p><script>document.body.innerHTML = '<i>x</i>'.repeat(30000)</script>`)).toBeNull();
  });
});
