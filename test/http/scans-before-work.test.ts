import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ScanSchema } from '../../src/http/answer/schemas.ts';
import { type Hosts, startHosts, titledPage } from '../scans/hosts.ts';
import { serviceForSuite } from '../support/for-suite.ts';
import { type RunningProxy, startProxy } from '../support/proxy.ts';
import { NO_BROWSER } from '../support/service.ts';
import { failureOf } from './answers.ts';

const SLOW = { name: 'slow', key: 'slow-key', rate: 1, scope: 'capture' } as const;
const SHOP = { name: 'shop', key: 'shop-key', rate: null, scope: 'capture' } as const;
const KEYED = { apiKey: [SLOW.key, SHOP.key], namedKeys: [SLOW, SHOP] };

describe('POST /scans', () => {
  const app = serviceForSuite({ ...NO_BROWSER, allowTargets: ['127.0.0.0/8'] }, KEYED);
  let hosts: Hosts;
  let proxy: RunningProxy;
  let closed = 0;
  beforeAll(async () => {
    hosts = await startHosts((request, response) => {
      if (request.url === '/never.xml') {
        response.once('close', () => {
          closed += 1;
        });
        return void response.writeHead(200).write('<urlset>');
      }
      if (!request.url?.endsWith('.xml')) return titledPage(request, response);
      const locs = Array.from({ length: 3 }, (_, at) => `<url><loc>http://${request.headers.host}/${at}</loc></url>`);
      return void response.end(`<urlset>${locs.join('')}</urlset>`);
    });
    proxy = await startProxy();
  });
  afterAll(async () => {
    await hosts?.[Symbol.asyncDispose]();
    await proxy?.[Symbol.asyncDispose]();
  });

  const sitemap = (name: string) => `http://127.0.0.5:${hosts.port}/${name}`;
  const scan = (key: string, targets: string, capture: unknown = {}) =>
    app.post('/scans', { targets, capture }, { headers: { 'X-API-Key': key } });
  const visitsOf = (name: string) => hosts.visits.filter((visit) => visit.endsWith(name)).length;

  it('refuses a list beyond the rate of the key while it is read, and reads none when nothing is left', async () => {
    expect(await failureOf(await scan(SLOW.key, `sitemap:${sitemap('rate.xml')}`))).toMatchObject({
      code: 'rate_limited',
    });
    expect(visitsOf('rate.xml')).toBe(1);
    expect((await scan(SLOW.key, sitemap('a'))).status).toBe(202);
    expect(await failureOf(await scan(SLOW.key, `sitemap:${sitemap('rate.xml')}`))).toMatchObject({
      code: 'rate_limited',
    });
    expect(visitsOf('rate.xml')).toBe(1);
  });

  it('ends the download of a sitemap when the client is gone', async () => {
    const body = JSON.stringify({ targets: `sitemap:${sitemap('never.xml')}`, capture: {} });
    const { hostname, port } = new URL(app.baseUrl);
    const client = connect(Number(port), hostname);
    await once(client, 'connect');
    client.write(
      `POST /scans HTTP/1.1\r\nHost: ${hostname}\r\nX-API-Key: ${SHOP.key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await expect.poll(() => visitsOf('never.xml')).toBe(1);
    expect(closed).toBe(0);
    client.destroy();
    await expect.poll(() => closed).toBe(1);
  });

  it('reads sitemaps through the proxy of its captures', async () => {
    const response = await scan(SHOP.key, `sitemap:${sitemap('proxied.xml')}`, {
      proxy: { server: `http://127.0.0.1:${proxy.port}` },
    });
    expect(response.status).toBe(202);
    expect(z.object({ data: ScanSchema }).parse(await response.json()).data.list).toMatchObject({ targets: 3 });
    expect(proxy.asked.map(({ what }) => what)).toContain(`CONNECT 127.0.0.5:${hosts.port}`);
  });
});
