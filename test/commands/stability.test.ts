import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Listening, listening } from '../egress/listening.ts';
import { serviceForSuite } from '../support/for-suite.ts';
import { capstan, ground } from './capstan-process.ts';

const KEY = 'the-key-of-the-command-line';
/** A page of 250 elements that have other colours each time. */
const MANY = `<!doctype html><h1>Lights</h1><script>for (let at = 0; at < 250; at += 1) {
  const light = document.body.appendChild(document.createElement('b'));
  light.style.cssText = 'float:left;width:40px;height:20px;margin:24px;background:hsl(' + Math.random() * 360 + ' 90% 60%)';
}</script>`;

describe('capstan stability', () => {
  const app = serviceForSuite({ maxConcurrent: 4 }, { apiKey: [KEY] });
  let site: Listening;
  beforeAll(async () => {
    let visits = 0;
    site = await listening(
      createServer(({ url }, response) => {
        if (url === '/many') {
          response.writeHead(200, { 'Content-Type': 'text/html' }).end(MANY);
          return;
        }
        visits += 1;
        response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' });
        // A terminal would take the character for the beginning of a command.
        response.end(`<!doctype html><h1>Harbour</h1><o:p\u009b31m>Visitor ${visits * 7919}</o:p\u009b31m>`);
      }),
    );
  });
  afterAll(() => site?.[Symbol.asyncDispose]());

  it.concurrent('says when there are more elements than it lists', async () => {
    const place = await ground();
    const args = ['stability', `http://127.0.0.1:${site.port}/many`, '--server', app.baseUrl, '--api-key', KEY];
    const { code, stdout } = await capstan([...args, '--full-page'], place.options);
    expect(code).toBe(0);
    expect(stdout).toContain('\nThere are more, which are not listed.\n');
  });

  it.concurrent('prints names of elements without characters that a terminal obeys', async () => {
    const place = await ground();
    const args = ['stability', `http://127.0.0.1:${site.port}/`, '--server', app.baseUrl, '--api-key', KEY];
    const { code, stdout } = await capstan(args, place.options);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^server {6}.*o\\:p/m);
    expect(stdout).not.toMatch(/[^\P{Cc}\n]/u);
    const [, ignore = ''] = /^(\[.*\])$/m.exec(stdout) ?? [];
    const watch = { url: `http://127.0.0.1:${site.port}/`, every: '1d', ignore: JSON.parse(ignore) };
    const added = await app.post('/watches', watch, { headers: { 'X-API-Key': KEY } });
    expect(added.status).toBe(201);
  });
});
