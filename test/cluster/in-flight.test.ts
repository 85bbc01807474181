import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { InFlightSchema } from '../../src/capture/operation/in-flight.ts';
import type { ServiceConfig } from '../../src/config/slices.ts';
import type { Served } from '../commands/capstan-process.ts';
import { startService } from '../support/service.ts';
import { buildUi, launchBrowser } from '../ui/ui-service.ts';
import { clusterOf, clusterStats, serversForSuite, whyNoCluster } from './cluster-of-processes.ts';
import { startHeldPages } from './held-pages.ts';

const whyNot = await whyNoCluster();
const reason = whyNot === undefined ? '' : ` (skipped: ${whyNot})`;

const Listed = z.object({ message: z.string(), data: z.array(InFlightSchema) });

async function list({ url }: Served, query = '', key?: string) {
  const headers = key === undefined ? {} : { 'X-API-Key': key };
  return Listed.parse(await (await fetch(`${url}/captures${query}`, { headers })).json());
}

describe.skipIf(whyNot !== undefined)(`captures in flight in a cluster${reason}`, () => {
  const servers = serversForSuite();

  /** Sends a capture that waits for a held page, as a client that has gone when the test has ended. */
  function send({ url }: Pick<Served, 'url'>, body: object, headers: Readonly<Record<string, string>> = {}): void {
    const gone = new AbortController();
    const sent = fetch(`${url}/screenshot`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
      signal: gone.signal,
    }).catch(() => undefined);
    onTestFinished(async () => {
      gone.abort();
      await sent;
    });
  }

  it('are listed by every api node, by node and by request id, and a node that does not answer is named', async () => {
    await using pages = await startHeldPages(Number.POSITIVE_INFINITY);
    await using cluster = await clusterOf(servers, 'flight');
    const [first, second] = await Promise.all([
      cluster.start('api'),
      cluster.start('api'),
      cluster.start('worker', '--max-concurrent', '1'),
    ]);
    await Promise.all([first, second].map((node) => cluster.workers(node, 1)));
    await expect.poll(() => clusterStats(first).then(({ nodes }) => nodes)).toBe(2);
    await expect.poll(() => clusterStats(second).then(({ nodes }) => nodes)).toBe(2);

    const [atFirst, atSecond] = [pages.url(), pages.url()];
    send(first, { url: atFirst }, { 'X-Request-Id': 'of-first' });
    await expect.poll(() => list(second)).toMatchObject({ message: '', data: [{ state: 'running' }] });
    send(second, { url: atSecond }, { 'X-Request-Id': 'of-second' });
    await expect.poll(() => list(first).then(({ data }) => data.length)).toBe(2);

    for (const node of [first, second]) {
      const { data } = await list(node);
      expect(data).toMatchObject([
        { url: atFirst, request_id: 'of-first', state: 'running', position: null },
        { url: atSecond, request_id: 'of-second', state: 'queued', position: 1 },
      ]);
      const [one, other] = data;
      expect(one?.node).not.toBe(other?.node);
      expect((await list(node, `?node=${other?.node}`)).data.map(({ url }) => url)).toEqual([atSecond]);
      expect((await list(node, '?request_id=of-first')).data.map(({ url }) => url)).toEqual([atFirst]);
      expect((await list(node, '?limit=1')).data.map(({ url }) => url)).toEqual([atFirst]);
    }

    const ofSecond = (await list(first)).data[1]?.node;
    second.child.kill('SIGSTOP');
    onTestFinished(() => void second.child.kill('SIGCONT'));
    expect(await list(first)).toMatchObject({
      message: `No answer from the api nodes ${ofSecond}.`,
      data: [{ url: atFirst }],
    });
  });

  it('are those of its own for an isolated key, at whichever node', async () => {
    await using pages = await startHeldPages(Number.POSITIVE_INFINITY);
    await using cluster = await clusterOf(servers, 'flight-keys');
    const file = join(cluster.place.path, 'keys');
    await writeFile(file, 'shop:shop-key\nnews:news-key\n');
    const keys = ['--api-key-file', file, '--isolate-keys'];
    const [first, second] = await Promise.all([cluster.start('api', ...keys), cluster.start('api', ...keys)]);
    const [ofShop, ofNews] = [pages.url(), pages.url()];
    send(first, { url: ofShop }, { 'X-API-Key': 'shop-key' });
    send(first, { url: ofNews }, { 'X-API-Key': 'news-key' });
    const urls = (key: string) => list(second, '', key).then(({ data }) => data.map(({ url }) => url));
    await expect.poll(() => urls('shop-key')).toEqual([ofShop]);
    await expect.poll(() => urls('news-key')).toEqual([ofNews]);
  });

  it('are shown in the operations view, of all api nodes or of one', async () => {
    await using pages = await startHeldPages(Number.POSITIVE_INFINITY);
    await using cluster = await clusterOf(servers, 'flight-view');
    const other = await cluster.start('api');
    const member: Partial<ServiceConfig> = {
      role: 'api',
      natsUrl: [servers.nats.url],
      clusterName: 'flight-view',
      dbPath: null,
      mongoUrl: `${servers.mongo.url}flight-view`,
    };
    const app = await startService(member, { uiDirectory: await buildUi() });
    onTestFinished(() => app.stop());
    const browser = await launchBrowser();
    onTestFinished(() => browser.close());
    await expect.poll(() => clusterStats({ url: app.baseUrl }).then(({ nodes }) => nodes)).toBe(2);
    send({ url: app.baseUrl }, { url: pages.url() });
    send(other, { url: pages.url() });

    const page = await browser.newPage();
    await page.goto(`${app.baseUrl}/ui/operations`);
    const flights = page.locator('section', { hasText: 'Captures in flight' });
    await flights.getByText('page1').waitFor();
    await flights.getByText('page2').waitFor();
    const ofOther = (await list(other)).data.find(({ url }) => url.endsWith('page2'))?.node;
    await flights.getByLabel('Api node').selectOption(ofOther ?? '');
    await flights.getByText('page1').waitFor({ state: 'detached' });
    await flights.getByText('page2').waitFor();
  });
});
