import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Listening, listening } from '../egress/listening.ts';
import { serviceForSuite } from '../support/for-suite.ts';
import { capstan, ground } from './capstan-process.ts';

const KEY = 'the-key-of-the-command-line';

describe('capstan stability', () => {
  const app = serviceForSuite({ maxConcurrent: 4 }, { apiKeys: [KEY] });
  let site: Listening;
  beforeAll(async () => {
    let visits = 0;
    site = await listening(
      createServer((_request, response) => {
        visits += 1;
        response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' });
        // A terminal would take the character for the beginning of a command.
        response.end(`<!doctype html><h1>Harbour</h1><o:p\u009b31m>Visitor ${visits * 7919}</o:p\u009b31m>`);
      }),
    );
  });
  afterAll(() => site?.[Symbol.asyncDispose]());

  it('prints names of elements without characters that a terminal obeys', async () => {
    const place = await ground();
    const args = ['stability', `http://127.0.0.1:${site.port}/`, '--server', app.baseUrl, '--api-key', KEY];
    const { code, stdout } = await capstan(args, place.options);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^server {6}.*o\\:p/);
    expect(stdout).not.toMatch(/[^\P{Cc}\n]/u);
    const [, ignore = ''] = /^(\[.*\])$/m.exec(stdout) ?? [];
    const watch = { url: `http://127.0.0.1:${site.port}/`, every: '1d', ignore: JSON.parse(ignore) };
    const added = await app.post('/watches', watch, { headers: { 'X-API-Key': KEY } });
    expect(added.status).toBe(201);
  });
});
