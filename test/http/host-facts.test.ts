import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { listening } from '../egress/listening.ts';
import { ICON } from '../fixtures/evidence-routes.ts';
import { type RunningService, startService } from '../support/service.ts';
import { makeDirectory } from '../support/temporary-directory.ts';

const Ids = z.object({ data: z.array(z.object({ id: z.number() })) });
const Delivered = z.object({ data: z.object({ events: z.array(z.unknown()) }) });
const Sent = z.object({
  data: z.looseObject({ id: z.number(), host_facts: z.looseObject({ technologies: z.unknown() }) }),
});

describe('what the host was', () => {
  let app: RunningService;
  let site: Awaited<ReturnType<typeof listening>>;

  beforeAll(async () => {
    const swagger = await readFile(fileURLToPath(import.meta.resolve('swagger-ui-dist/favicon-32x32.png')));
    const rules = join(await makeDirectory(), 'rules.json');
    await writeFile(rules, JSON.stringify({ Harbour: { headers: { 'x-harbour': '([\\d.]+)\\;version:\\1' } } }));
    app = await startService({ technologyRules: rules });
    site = await listening(
      createServer((request, response) => {
        if (request.url?.endsWith('.js') === true) return response.end();
        if (request.url === '/favicon.ico') return response.end(ICON);
        if (request.url === '/swagger.png') return response.end(swagger);
        response.writeHead(200, {
          'content-type': 'text/html',
          server: 'nginx/1.26.3',
          'x-harbour': '2.1',
          'set-cookie': 'PHPSESSID=1',
        });
        return response.end(
          `<title>Harbour</title><meta name="generator" content="WordPress 6.4.2"><script src="/js/jquery-3.7.1.min.js"></script>${
            request.url === '/api' ? '<link rel="icon" href="/swagger.png">' : ''
          }`,
        );
      }),
    );
  });

  afterAll(async () => {
    await app.stop();
    await site[Symbol.asyncDispose]();
  });

  it('is in the result, in lists by each of its facts, in groups, and in columns of exports', async () => {
    const url = `http://127.0.0.1:${site.port}/`;
    const { data } = Sent.parse(await (await app.post('/screenshot', { url, evidence: ['favicon'] })).json());
    expect(data.host_facts).toMatchObject({ server: 'nginx/1.26.3', hsts: false, certificate: null, cnames: [] });
    expect(data.host_facts.technologies).toEqual([
      { name: 'nginx', version: '1.26.3', sign: 'header' },
      { name: 'WordPress', version: '6.4.2', sign: 'meta' },
      { name: 'PHP', version: '', sign: 'cookie' },
      { name: 'Harbour', version: '2.1', sign: 'header' },
      { name: 'jQuery', version: '3.7.1', sign: 'script' },
    ]);
    for (const where of [
      'server=nginx',
      'technology=WordPress/6,Harbour',
      'address=127.0.0.0/8',
      'favicon=-770443431',
    ]) {
      const { data: found } = Ids.parse(await (await app.call(`/results?${where}`)).json());
      expect([where, found.map(({ id }) => id)]).toEqual([where, [data.id]]);
    }
    const groups = await (await app.call('/results/groups?by=technology')).json();
    expect(groups).toMatchObject({
      data: {
        groups: expect.arrayContaining([expect.objectContaining({ value: 'jQuery/3.7.1/', count: 1, hosts: 1 })]),
      },
    });
    const [head = '', row = ''] = (await (await app.call('/results/export?format=csv')).text()).split('\r\n');
    const at = head.split(',').indexOf('technologies');
    expect(head.split(',')).toEqual(expect.arrayContaining(['server', 'certificate_issuer', 'favicon_hash', 'cnames']));
    expect([at > 0, row]).toEqual([
      true,
      expect.stringContaining('"nginx 1.26.3, WordPress 6.4.2, PHP, Harbour 2.1, jQuery 3.7.1"'),
    ]);
  });

  it('names a product by its icon, when the icon was loaded', async () => {
    const url = `http://127.0.0.1:${site.port}/api`;
    const named = async (evidence: readonly string[]) =>
      Sent.parse(await (await app.post('/screenshot', { url, evidence })).json()).data.host_facts.technologies;
    const ofIcon = { name: 'Swagger UI', version: '', sign: 'favicon' };
    expect(await named(['favicon'])).toContainEqual(ofIcon);
    expect(await named([])).not.toContainEqual(ofIcon);
    const { data: found } = Ids.parse(await (await app.call('/results?technology=swagger%20ui')).json());
    expect(found).toHaveLength(1);
  });

  it('is a condition of standing queries', async () => {
    const filters = [{ server: 'nginx/1.26', address: '127.0.0.0/30' }, { server: 'apache' }];
    const made = await Promise.all(filters.map(async (filter) => (await app.post('/queries', { filter })).json()));
    const ids = made.map((each) => z.object({ data: z.object({ id: z.string() }) }).parse(each).data.id);
    await app.post('/screenshot', { url: `http://127.0.0.1:${site.port}/again` });
    const delivered = await Promise.all(
      ids.map(async (id) => Delivered.parse(await (await app.call(`/queries/${id}/next`)).json()).data.events.length),
    );
    expect(delivered).toEqual([1, 0]);
  });

  it('is refused as a condition with what is accepted', async () => {
    for (const where of [
      'address=10.0.0.0/7',
      'hsts=maybe',
      'certificateExpiresBefore=soon',
      'cname=a%20b',
      'technology=',
      'technology=,%20,',
    ]) {
      expect([where, (await app.call(`/results?${where}`)).status]).toEqual([where, 400]);
    }
  });
});

describe('a file of rules', () => {
  it('that cannot be read is a configuration error', async () => {
    const path = join(await makeDirectory(), 'missing.json');
    await expect(startService({ technologyRules: path })).rejects.toThrow(
      /--technology-rules ".*missing.json" cannot be read: /,
    );
  });
});
