import { describe, expect, it } from 'vitest';
import { openApiDocument } from '../../../src/http/openapi/document.ts';
import { serviceForSuite } from '../../support/for-suite.ts';
import { NO_BROWSER } from '../../support/service.ts';
import { failureOf } from '../answers.ts';

const app = serviceForSuite(NO_BROWSER);
const { paths } = openApiDocument({ maxBatch: 10, timeoutMs: 1_000, maxTimeoutMs: 1_000 });
const OPERATIONS = Object.entries(paths).flatMap(([path, item]) =>
  Object.keys(Object(item)).map((method) => [method.toUpperCase(), path.replace('{id}', '1')] as const),
);

describe('readParameters', () => {
  it.each(OPERATIONS)('refuses unknown parameters of %s %s and names them', async (method, path) => {
    const response = await app.call(`${path}?nope=1&limi=2&nope=3`, { method });
    expect(response.status).toBe(400);
    if (method === 'HEAD') return;
    const { code, data, error } = await failureOf(response);
    expect(code).toBe('invalid_request');
    expect(data?.problems?.map((problem) => problem.path)).toEqual(['nope', 'limi']);
    expect(error).toMatch(/^nope: is not a query parameter/);
  });

  it('refuses a path parameter that is repeated in the query', async () => {
    const response = await app.call('/screenshot/1?id=2');
    expect(response.status).toBe(400);
    expect((await failureOf(response)).error).toBe(
      'id: is not a query parameter of this path; its parameters are view, width, height, format, quality',
    );
  });

  it.each([
    ['/results/by-url?url=http%3A%2F%2Fx.com%2Fcaf%E9', 'url'],
    ['/screenshot?url=http://x.com/caf%E9', 'url'],
    ['/results?text=%C3%A9%C3', 'text'],
    ['/results?text=%ED%A0%80', 'text'],
    ['/stats?%FF=1', '%FF'],
  ])('refuses %s, which is not UTF-8', async (path, name) => {
    const response = await app.call(path);
    expect(response.status).toBe(400);
    const { code, error } = await failureOf(response);
    expect({ code, error }).toEqual({
      code: 'invalid_request',
      error: expect.stringContaining(`${name}: must be UTF-8`),
    });
  });

  it('reads a percent sign that stands for itself', async () => {
    const { error } = await failureOf(await app.call('/stats?%zz=%C3%A9&100%=1'));
    expect(error).toContain('%zz: is not a query parameter');
    expect(error).toContain('100%: is not a query parameter');
  });

  it('refuses __proto__ as an unknown name', async () => {
    const response = await app.call('/stats?__proto__=1');
    expect(response.status).toBe(400);
    expect((await failureOf(response)).error).toBe('__proto__: is not a query parameter of this path; it has none');
  });

  it.each(['concurrency=2', 'callback=https%3A%2F%2Fexample.com%2F'])(
    'refuses %s with a JSON body, which has a field for that parameter',
    async (query) => {
      const response = await app.post(`/batch?${query}`, { requests: [] });
      expect(response.status).toBe(400);
      const { error } = await failureOf(response);
      expect(error).toBe(
        `${query.split('=')[0]}: is only for a body of application/x-ndjson; put it into the JSON body`,
      );
    },
  );
});
