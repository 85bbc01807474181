import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { expect, it } from 'vitest';
import { createTargetPolicy } from '../../src/egress/address-policy.ts';
import { createEgress } from '../../src/egress/create-egress.ts';
import { listening } from '../egress/listening.ts';
import { patience, type RunningActor, startActor } from '../support/actor.ts';
import { captureRequest } from '../support/capture-request.ts';
import { familyOf } from '../support/process-family.ts';
import { IN_FEW_PIXELS } from '../support/site-and-actor.ts';

/** Returns the number of renderers of an actor's browsers. Other browsers of this process are not counted. */
async function renderersOf({ actor }: RunningActor): Promise<number> {
  const families = actor.stats().browsers.map(({ pid }) => familyOf(pid, memberOf));
  return (await Promise.all(families)).flat().filter(({ isRenderer }) => isRenderer).length;
}

async function memberOf(pid: number) {
  const text = (name: string) => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '');
  const [stat, command] = await Promise.all([text('stat'), text('cmdline')]);
  const parent = Number(/^\d+ \(.*\) \S (\d+)/s.exec(stat)?.[1]);
  return stat === '' ? undefined : { pid, parent, isRenderer: command.includes('--type=renderer') };
}

/** Serves pages with three frames of other sites, and counts the renderers when they have loaded. */
const site = (headers: Readonly<Record<string, string>>, actor: () => RunningActor) =>
  createServer(async ({ url, headers: { host = '' } }, response) => {
    response.writeHead(200, { 'content-type': 'text/html', ...headers });
    const port = host.split(':')[1];
    const frames = [2, 3, 4].map((at) => `<iframe src="http://127.0.0.${at}:${port}/frame"></iframe>`);
    if (url === '/renderers') response.end(String(await renderersOf(actor())));
    else if (url === '/frame') response.end('<p>A frame');
    else
      response.end(`<!doctype html>${frames.join('')}
        <script>onload = async () => { document.title = await (await fetch('/renderers')).text() }</script>`);
  });

it.skipIf(process.platform !== 'linux').each([
  ['have one renderer with their page', {}, 1],
  [
    'have one renderer with a page that is isolated from other origins',
    { 'Cross-Origin-Opener-Policy': 'same-origin' },
    1,
  ],
  ['have renderers of their own when their servers ask for it', { 'Origin-Agent-Cluster': '?1' }, 4],
] as const)('frames of other sites %s', async (_what, headers, count) => {
  const egress = createEgress({ policy: createTargetPolicy({ allow: ['127.0.0.0/8'], deny: [] }) });
  const running = await startActor({ egress });
  try {
    await using server = await listening(
      site(headers, () => running),
      '0.0.0.0',
    );
    const request = captureRequest(`http://127.0.0.1:${server.port}/`, {
      ...IN_FEW_PIXELS,
      waitForFunction: 'document.title',
    });
    expect((await running.actor.capture(request, patience)).title).toBe(String(count));
  } finally {
    await running.stop();
    await egress.close();
  }
});
