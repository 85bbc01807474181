import http from 'node:http';
import { describe, expect, it } from 'vitest';
import { type Listening, listening } from '../egress/listening.ts';
import { forSuite, siteForSuite } from '../support/for-suite.ts';
import { uiForSuite } from './ui-service.ts';

describe.each(['/capstan', '/tools/ui/capstan'])('the web interface below %s of a host', (prefix) => {
  const site = siteForSuite();
  const ui = uiForSuite();
  const outside: string[] = [];
  const proxy = forSuite<Listening>(
    () => listening(proxyTo(ui.app.baseUrl, prefix, (path) => outside.push(path))),
    async (one) => one[Symbol.asyncDispose](),
  );
  const addressOf = (path: string) => `http://127.0.0.1:${proxy.port}${prefix}${path}`;

  it('captures, lists, shows and reloads, and asks for nothing outside of it', async () => {
    const page = await ui.open(addressOf('/'));
    expect(page.url()).toBe(addressOf('/ui/'));
    await page.getByRole('link', { name: 'Capture', exact: true }).first().click();
    await page.getByLabel(/URL/).first().fill(site.url('/long'));
    await page.getByRole('button', { name: 'Capture', exact: true }).click();
    const loaded = (image: object) => Reflect.get(image, 'naturalWidth') > 0;
    await expect.poll(() => page.locator('.capture-image img').evaluate(loaded)).toBe(true);

    await page.goto(addressOf('/ui/'));
    await expect.poll(() => page.locator('.card img').first().evaluate(loaded)).toBe(true);
    await page.locator('.card-link').first().click();
    await expect.poll(() => page.locator('.canvas img').evaluate(loaded)).toBe(true);
    expect(page.url()).toMatch(new RegExp(`${prefix}/ui/results/\\d+$`));
    await page.reload();
    await expect.poll(() => page.locator('.canvas img').evaluate(loaded)).toBe(true);
    expect([outside, ui.complaints]).toEqual([[], []]);
  });
});

/** A reverse proxy that serves a service below a path, and reports what is asked for outside of it. */
function proxyTo(baseUrl: string, prefix: string, report: (path: string) => void): http.Server {
  return http.createServer((request, response) => {
    const { url = '', method, headers } = request;
    if (!url.startsWith(`${prefix}/`)) {
      report(url);
      response.writeHead(404).end();
      return;
    }
    const sent = { ...headers, 'x-forwarded-prefix': prefix };
    const onward = http.request(baseUrl + url.slice(prefix.length), { method, headers: sent }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    response.once('close', () => onward.destroy());
    request.pipe(onward);
  });
}
