import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, it } from 'vitest';
import { sentResult } from '../../../src/capture/artifacts/artifact-paths.ts';
import { serviceForSuite } from '../../support/for-suite.ts';
import { NO_BROWSER, type RunningService, startService } from '../../support/service.ts';
import { failureOf, idsOf, nextPage } from '../answers.ts';
import { resultOf } from '../stored-capture.ts';

const app = serviceForSuite(NO_BROWSER);
const conditional = serviceForSuite(NO_BROWSER);
const at = (id: number): string => resultOf(id).probed_at;

/** Ids 1 to 1205, most of them of one URL. A higher id is a newer record. */
const TOTAL = 1205;
const MANY = 'https://many.example/';

const others: Readonly<Record<number, string>> = {
  1: 'https://example.com/',
  2: 'https://www.example.com/',
  3: 'https://example.com.au/',
  4: 'https://notexample.com/',
  5: 'https://bücher.example/',
};

beforeAll(async () => {
  const insert = (id: number) => {
    const url = others[id] ?? MANY;
    return app.service.results.insert(resultOf(id, { url, title: `Title ${id}` }));
  };
  for (let from = 1; from <= TOTAL; from += 100) {
    await Promise.all(Array.from({ length: Math.min(100, TOTAL - from + 1) }, (_, offset) => insert(from + offset)));
  }
});

/** Returns `count` ids, newest first. */
function newest(count: number, from = TOTAL): readonly number[] {
  return Array.from({ length: count }, (_, index) => from - index);
}

async function allPages(path: string): Promise<(readonly number[])[]> {
  const pages: (readonly number[])[] = [];
  for (let next: string | undefined = path; next !== undefined; ) {
    const response = await app.call(next);
    expect(response.status).toBe(200);
    pages.push(await idsOf(response));
    next = nextPage(response);
  }
  return pages;
}

describe('conditions of a list', () => {
  const NEWEST = 1500;

  beforeAll(async () => {
    const insert = (id: number, overrides: Parameters<typeof resultOf>[1]) =>
      conditional.service.results.insert(
        resultOf(id, { url: 'https://cond.example/', host: 'cond.example', ...overrides }),
      );
    await Promise.all([
      insert(1, { title: 'Price list', response_code: 200, options: { fullPage: true, device: 'iPhone 15' } }),
      insert(2, { title: 'Not found', response_code: 404, options: { fullPage: true }, options_withheld: ['form'] }),
      insert(3, { title: '', response_code: 0, failed: true, failed_code: 'target_unreachable' }),
      insert(4, { title: '', response_code: 0, failed: true, failed_code: 'capture_timeout' }),
      insert(5, {
        title: 'Price list of 2026',
        response_code: 200,
        url: 'https://other.example/',
        host: 'other.example',
      }),
      ...Array.from({ length: NEWEST - 1000 }, (_, at) => insert(1001 + at, { title: 'Many', response_code: 500 })),
    ]);
  });

  it.each([
    ['/results?status=404', [2]],
    ['/results?status=4xx', [2]],
    ['/results?status=0', [4, 3]],
    ['/results?outcome=failed', [3]],
    ['/results?outcome=timed_out', [4]],
    ['/results?outcome=stored&status=2xx', [5, 1]],
    ['/results?text=PRICE%20list', [5, 1]],
    ['/results?text=2026', [5]],
    [`/results?from=${at(4)}&to=${at(6)}`, [5, 4]],
    [`/results?from=${encodeURIComponent(at(5).replace('Z', '+00:00'))}&to=${at(6)}`, [5]],
    ['/results?from=2200-01-01', []],
    ['/results?text=price&status=404', []],
    ['/results?option=fullPage', [2, 1]],
    ['/results?option=fullPage,device=iphone%2015', [1]],
    ['/results?option=device%3DiPhone', []],
    ['/results?option=form&status=404', [2]],
    ['/results/by-host?host=cond.example&option=fullPage', [2, 1]],
    ['/results/by-url?url=cond.example&option=device', [1]],
    ['/results/by-host?host=cond.example&text=price', [1]],
    ['/results/by-host?host=cond&outcome=timed_out', [4]],
    ['/results/by-url?url=https://cond.example/&status=404', [2]],
    ['/results/by-url?url=cond.example&text=list', [1]],
  ])('lists for %s the results that meet the conditions', async (path, ids) => {
    expect(await idsOf(await conditional.call(path))).toEqual(ids);
  });

  it('keeps the conditions in the Link to the next page', async () => {
    const ids: number[] = [];
    for (let next: string | undefined = '/results?text=many&limit=200'; next !== undefined; ) {
      const response = await conditional.call(next);
      ids.push(...(await idsOf(response)));
      next = nextPage(response);
    }
    expect(ids).toEqual(Array.from({ length: 500 }, (_, index) => NEWEST - index));
  });

  it('ends a page of large results after 4 MiB, and leads to the rest', async () => {
    const wide = { url: 'https://wide.example/', host: 'wide.example', options: { css: 'x'.repeat(50_000) } };
    for (let at = 1; at <= 150; at += 1) await conditional.service.results.insert(resultOf(10_000 + at, wide));
    const pages: number[][] = [];
    for (let next: string | undefined = '/results/by-host?host=wide.example&limit=1000'; next !== undefined; ) {
      const response = await conditional.call(next);
      pages.push([...(await idsOf(response))]);
      next = nextPage(response);
    }
    expect(pages.map(({ length }) => length)).toEqual([83, 67]);
    expect(pages.flat()).toEqual(Array.from({ length: 150 }, (_, at) => 10_150 - at));
  });

  it('applies the conditions to a streamed list', async () => {
    expect(await idsOf(await conditional.call('/results/by-host?host=cond.example&status=5xx'))).toHaveLength(500);
  });

  it.each([
    ['status=20', 'status'],
    ['status=0xx', 'status'],
    ['status=ok', 'status'],
    ['outcome=rejected', 'outcome'],
    ['from=yesterday', 'from'],
    ['to=2026-02-30', 'to'],
    ['text=', 'text'],
    ['text=%21%3F', 'text'],
    [`text=${'a'.repeat(201)}`, 'text'],
    ['option=', 'option'],
    ['option=full_page', 'option'],
    ['option=fullPage,callback', 'option'],
  ])('answers 400 to %s and names the condition', async (query, path) => {
    const response = await conditional.call(`/results?${query}`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: 'invalid_request', data: { problems: [{ path }] } });
  });
});

describe('GET /results', () => {
  it.each([
    ['', 100],
    ['?limit=1', 1],
    ['?limit=250', 250],
    ['?limit=1000', 1000],
    ['?limit=1001', 1000],
    ['?limit=99999999999999999999', 1000],
    ['?limit=0', 100],
    ['?limit=-1', 100],
    ['?limit=-99999999999999999999', 100],
    ['?limit=007', 7],
  ])('returns the newest results for %s, as many as its limit says', async (query, count) => {
    const response = await app.call(`/results${query}`);
    expect(response.status).toBe(200);
    expect(await idsOf(response)).toEqual(newest(count));
  });

  it.each(['limit=abc', 'limit=1.5', 'limit=', 'limit=1e2', 'limit=%201', 'limit=1&limit=1', 'cursor=', 'cursor=abc'])(
    'refuses %s and names the parameter',
    async (query) => {
      const response = await app.call(`/results?${query}`);
      expect(response.status).toBe(400);
      const path = query.slice(0, query.indexOf('='));
      expect(await response.json()).toMatchObject({
        success: false,
        code: 'invalid_request',
        error: expect.stringContaining(path),
        data: { problems: [{ path }] },
      });
    },
  );

  it('returns whole records', async () => {
    const response = await app.call('/results?limit=1');
    expect(await response.json()).toEqual({
      success: true,
      message: '',
      data: [sentResult(resultOf(TOTAL, { url: MANY, title: `Title ${TOTAL}` }))],
      request_id: response.headers.get('X-Request-Id'),
    });
  });

  it('returns pages without gaps or repetitions, and links no page after the last', async () => {
    const pages = await allPages('/results?limit=500');
    expect(pages.map((page) => page.length)).toEqual([500, 500, 205]);
    expect(pages.flat()).toEqual(newest(TOTAL));
  });

  it('links no next page when the page ends exactly where the list ends', async () => {
    const response = await app.call(`/results/by-url?url=${encodeURIComponent('https://example.com/')}&limit=1`);
    expect(await idsOf(response)).toEqual([1]);
    expect(response.headers.get('Link')).toBeNull();
  });

  it('continues from a cursor whatever was stored meanwhile', async () => {
    const first = await app.call('/results?limit=3');
    await idsOf(first);
    const late = TOTAL + 1;
    await app.service.results.insert(
      resultOf(late, { url: 'https://late.example/', probed_at: resultOf(1).probed_at }),
    );
    expect(await idsOf(await app.call(nextPage(first) ?? ''))).toEqual(newest(3, TOTAL - 3));
  });
});

describe('GET /results/by-url', () => {
  it('returns every record of exactly the requested URL', async () => {
    const found = await app.call(`/results/by-url?url=${encodeURIComponent(MANY)}`);
    expect(await found.clone().json()).toMatchObject({
      success: true,
      message: '',
      request_id: found.headers.get('X-Request-Id'),
    });
    expect(found.headers.get('Content-Type')).toMatch(/^application\/json/);
    expect(found.headers.get('Link')).toBeNull();
    expect(await idsOf(found)).toEqual(newest(TOTAL - 5));
    expect(await idsOf(await app.call('/results/by-url?url=HTTPS://Many.example'))).toEqual(newest(TOTAL - 5));
    for (const other of ['https://many.example/x', 'http://many.example/']) {
      expect(await idsOf(await app.call(`/results/by-url?url=${encodeURIComponent(other)}`))).toEqual([]);
    }
  });

  it('assumes https:// for a URL without a scheme, as captures do', async () => {
    expect(await idsOf(await app.call('/results/by-url?url=www.example.com/'))).toEqual([2]);
  });

  it('returns pages when a limit is given, and keeps the other parameters in the links', async () => {
    const pages = await allPages(`/results/by-url?url=${encodeURIComponent(MANY)}&limit=700`);
    expect(pages.map((page) => page.length)).toEqual([700, 500]);
    expect(pages.flat()).toEqual(newest(TOTAL - 5));
  });

  it('returns everything after the cursor when no limit is given', async () => {
    const first = await app.call(`/results/by-url?url=${encodeURIComponent(MANY)}&limit=10`);
    const next = new URL(nextPage(first) ?? '', app.baseUrl);
    next.searchParams.delete('limit');
    expect(await idsOf(await app.call(next.pathname + next.search))).toEqual(newest(TOTAL - 5 - 10, TOTAL - 10));
  });

  it.each(['', '?url=', '?url=%20', '?url=http://', '?url=a.example&url=b.example', `?url=${'x'.repeat(8193)}`])(
    'refuses %.30s',
    async (query) => {
      const response = await app.call(`/results/by-url${query}`);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ code: 'invalid_request', data: { problems: [{ path: 'url' }] } });
    },
  );

  it.each(['limit=0', 'limit=-1'])('returns the default page with %s', async (query) => {
    expect(await idsOf(await app.call(`/results/by-url?url=${encodeURIComponent(MANY)}&${query}`))).toHaveLength(100);
  });
});

describe('GET /results/by-host', () => {
  it.each([
    ['example.com', [3, 2, 1]],
    ['EXAMPLE.com', [3, 2, 1]],
    ['%20example.com%20', [3, 2, 1]],
    ['www.example.com', [2]],
    ['notexample', [4]],
    ['b%C3%BCcher.example', [5]],
    ['B%C3%9CCHER.example', [5]],
    ['xn--bcher-kva.example', [5]],
    ['e.ample.com', []],
    ['*', []],
    ['%25', []],
    ['.com', []],
    ['example.com.', [3]],
  ])('returns for %s the records %j', async (host, ids) => {
    expect(await idsOf(await app.call(`/results/by-host?host=${host}`))).toEqual(ids);
  });

  it('returns everything in bounded memory when no limit is given', async () => {
    const response = await app.call('/results/by-host?host=many.example');
    expect(response.headers.get('Content-Length')).toBeNull();
    expect(await idsOf(response)).toEqual(newest(TOTAL - 5));
  });

  it('returns pages when a limit is given', async () => {
    const pages = await allPages('/results/by-host?host=many.example&limit=400');
    expect(pages.map((page) => page.length)).toEqual([400, 400, 400]);
    expect(pages.flat()).toEqual(newest(TOTAL - 5));
  });

  it.each([
    ['https://example.com/', 'not a URL'],
    ['https://example.com', 'not a URL'],
    ['example.com/path', 'not a URL'],
    ['me@example.com', 'not a URL'],
    ['a b', 'must be one host such as example.com, without spaces: "a b"'],
    ['example.com:8080', 'must be a host without a port: "example.com", not "example.com:8080"'],
    ['example.com:', 'must be a host without a port: "example.com"'],
    ['127.0.0.1:80', 'must be a host without a port: "127.0.0.1"'],
    ['[::1]:80', 'must be a host without a port: "[::1]"'],
  ])('refuses %s and says why', async (host, why) => {
    for (const path of ['/results/by-host', '/events']) {
      const response = await app.call(`${path}?host=${encodeURIComponent(host)}`);
      expect(response.status).toBe(400);
      const { error } = await failureOf(response);
      expect(error).toMatch(/^host: /);
      expect(error).toContain(why);
    }
  });

  it.each(['::1', '[::1]', '2001:', '2001:db8:', '127.0.0.1', 'localhost'])('accepts the host %s', async (host) => {
    expect((await app.call(`/results/by-host?host=${encodeURIComponent(host)}`)).status).toBe(200);
  });

  it.each(['', '?host=', '?host=%20%20', '?host=a&host=b'])('refuses %s', async (query) => {
    const response = await app.call(`/results/by-host${query}`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: 'invalid_request', data: { problems: [{ path: 'host' }] } });
  });
});

describe('GET /results/{id}', () => {
  it('returns one record', async () => {
    const response = await app.call('/results/7');
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      success: true,
      message: '',
      data: { ...sentResult(resultOf(7, { url: MANY, title: 'Title 7' })), evidence: null },
      request_id: response.headers.get('X-Request-Id'),
    });
  });

  it.each(['0', '-1', '1.5', 'abc', 'by-urls', '1e3', '%37x'])('answers 400 to the id %s', async (id) => {
    const response = await app.call(`/results/${id}`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      code: 'invalid_id',
      error: expect.stringContaining('positive integer'),
    });
  });

  it.each(['999999', '9007199254740992', '99999999999999999999'])('answers 404 to the id %s', async (id) => {
    const response = await app.call(`/results/${id}`);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ code: 'not_found' });
  });
});

describe('HEAD of a list', () => {
  it.each(['/results', '/results/by-host?host=many.example', '/results/by-url?url=www.example.com/'])(
    'answers %s without a body',
    async (path) => {
      const response = await app.call(path, { method: 'HEAD' });
      expect(response.status).toBe(200);
      expect(response.headers.get('Content-Type')).toMatch(/^application\/json/);
      expect(await response.text()).toBe('');
    },
  );
});

describe('routes that need a database', () => {
  const paths = [
    '/results',
    '/results/by-url?url=x.com',
    '/results/by-host?host=x.com',
    '/results/1',
    // The missing database is reported before invalid parameters.
    '/results/by-url',
    '/results/abc',
    '/results?limit=x',
  ];

  it('answers 503 and says how to start the service with a database', async () => {
    const without = await startService({ ...NO_BROWSER, dbPath: null });
    try {
      for (const path of paths) {
        const response = await fetch(without.baseUrl + path);
        expect(response.status).toBe(503);
        expect(await response.json()).toMatchObject({
          success: false,
          code: 'database_not_enabled',
          error: expect.stringMatching(/--db-path.*--mongo-url/),
        });
      }
      expect((await fetch(`${without.baseUrl}/screenshots`)).status).toBe(200);
    } finally {
      await without.stop();
    }
  });

  it('answers 503 when the database cannot be opened', async () => {
    const unwritable = await startService({ ...NO_BROWSER, dbPath: join(import.meta.filename, 'results.db') });
    try {
      for (const path of paths) {
        const response = await fetch(unwritable.baseUrl + path);
        expect(response.status).toBe(503);
        expect(await response.json()).toMatchObject({ success: false, code: expect.stringMatching(/^database_/) });
      }
      expect((await fetch(`${unwritable.baseUrl}/livez`)).status).toBe(200);
      expect((await fetch(`${unwritable.baseUrl}/screenshots`)).status).toBe(200);
    } finally {
      await unwritable.stop();
    }
  });
});

describe('a list without a limit', () => {
  /** Larger than the kernel's buffers, so that an answer waits for its reader. */
  const LARGE = { url: 'https://large.example/', title: 'x'.repeat(40_000) };

  async function startLarge(): Promise<RunningService> {
    const large = await startService(NO_BROWSER);
    const ids = Array.from({ length: 600 }, (_, index) => index + 1);
    await Promise.all(ids.map((id) => large.service.results.insert(resultOf(id, LARGE))));
    return large;
  }

  async function open(baseUrl: string): Promise<IncomingMessage> {
    const [response] = await once(get(`${baseUrl}/results/by-host?host=large.example`), 'response');
    return response;
  }

  it('aborts the answer when the database is lost in the middle', async () => {
    const large = await startLarge();
    try {
      const response = await open(large.baseUrl);
      expect(response.statusCode).toBe(200);
      await large.loseDatabase();
      await expect(text(response)).rejects.toMatchObject({ code: 'ECONNRESET' });
      const after = await fetch(`${large.baseUrl}/results/by-host?host=large.example`);
      expect(after.status).toBe(503);
    } finally {
      await large.stop();
    }
  });
});
