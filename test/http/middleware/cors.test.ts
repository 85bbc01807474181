import { describe, expect, it } from 'vitest';
import { serviceForSuite } from '../../support/for-suite.ts';
import { NO_BROWSER } from '../../support/service.ts';

const LISTED = 'https://app.example';
const app = serviceForSuite(NO_BROWSER, { apiKey: ['key'], corsOrigins: [LISTED, 'http://localhost:3000'] });
const closed = serviceForSuite(NO_BROWSER);

const preflight = (origin: string, to = app) =>
  to.call('/screenshot', {
    method: 'OPTIONS',
    headers: {
      Origin: origin,
      'Access-Control-Request-Method': 'POST',
      'Access-Control-Request-Headers': 'authorization,content-type',
    },
  });
const corsHeaders = ({ headers }: Response) => [...headers.keys()].filter((name) => name.startsWith('access-control-'));

describe('CORS', () => {
  it.each([LISTED, 'http://localhost:3000'])('accepts the preflight of the listed origin %s', async (origin) => {
    const response = await preflight(origin);
    expect(response.status).toBe(204);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-headers': 'authorization,content-type',
      'access-control-allow-methods': expect.stringContaining('POST'),
      vary: expect.stringContaining('Origin'),
    });
    expect(response.headers.has('Access-Control-Allow-Credentials')).toBe(false);
  });

  it.each(['https://other.example', 'https://app.example.evil.example', 'http://app.example', 'null'])(
    'sends no CORS headers to the origin %s',
    async (origin) => {
      const response = await preflight(origin);
      expect(response.status).toBe(401);
      expect(corsHeaders(response)).toEqual([]);
      expect(corsHeaders(await app.call('/livez', { headers: { Origin: origin } }))).toEqual([]);
    },
  );

  it('lets a listed origin read responses, failures and the exposed headers', async () => {
    for (const path of ['/livez', '/results']) {
      const response = await app.call(path, { headers: { Origin: LISTED } });
      expect(response.headers.get('Access-Control-Allow-Origin')).toBe(LISTED);
      expect(response.headers.get('Access-Control-Expose-Headers')).toContain('Link');
    }
  });

  it('allows no origin by default', async () => {
    const response = await preflight(LISTED, closed);
    expect(response.status).toBe(405);
    expect(corsHeaders(response)).toEqual([]);
    expect(corsHeaders(await closed.call('/livez', { headers: { Origin: LISTED } }))).toEqual([]);
  });
});
