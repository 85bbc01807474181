import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, it } from 'vitest';
import type * as Capstan from '../../src/client/mod.ts';
import { siteForSuite } from '../support/for-suite.ts';
import { uiForSuite } from '../ui/ui-service.ts';

declare const capstan: typeof Capstan;

const MOD = join(import.meta.dirname, '../../src/client/mod.ts');

const site = siteForSuite();
const ui = uiForSuite();

it('captures, streams and lists in a browser', async () => {
  const { outputFiles } = await build({
    entryPoints: [MOD],
    bundle: true,
    format: 'iife',
    globalName: 'capstan',
    write: false,
  });
  const page = await ui.open('/ui/');
  await page.evaluate(`${outputFiles[0]?.text}; globalThis.capstan = capstan;`);
  const found = await page.evaluate(
    async ([url, baseUrl]) => {
      const { capture, batch, events, results, image } = capstan.createClient({ baseUrl });
      const { id } = await capture({ url });
      const codes: (string | null)[] = [];
      for await (const { code } of batch([{ url }, { url: 'file:///x' }])) codes.push(code);
      const types: string[] = [];
      for await (const each of events({ types: ['capture.stored'], lastEventId: 0 })) {
        if ('event' in each && types.push(each.event.type) === 2) break;
      }
      const listed: string[] = [];
      for await (const result of results({ url })) listed.push(result.url);
      const type = (await image(id)).headers.get('Content-Type');
      return { codes: codes.toSorted(), types, listed, type };
    },
    [site.url('/short'), ui.app.baseUrl] as const,
  );
  expect(found).toEqual({
    codes: [null, 'target_forbidden'],
    types: ['capture.stored', 'capture.stored'],
    listed: [site.url('/short'), site.url('/short')],
    type: 'image/png',
  });
});
