import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createIpFacts } from '../../src/service/capturing/ip-facts.ts';
import { type Listening, listening } from '../egress/listening.ts';
import { startSite } from '../fixtures/site.ts';
import { startService } from '../support/service.ts';

const RECORD = { ip: '8.8.8.8', city: 'Mountain View', country: 'US', asn: 'AS15169', org: 'GOOGLE', in_eu: false };
const patience = new AbortController().signal;

describe('createIpFacts', () => {
  const asked: string[] = [];
  const upstream = createServer((request, response) => {
    asked.push(request.url ?? '');
    if (request.url?.includes('9.9.9.9')) return;
    response.setHeader('content-type', 'application/json').end(JSON.stringify(RECORD));
  });
  let at: Listening | undefined;
  let ipinfoUrl = '';
  beforeAll(async () => {
    at = await listening(upstream);
    ipinfoUrl = `http://127.0.0.1:${at.port}/`;
  });
  afterAll(() => at?.[Symbol.asyncDispose]());

  const problems: unknown[] = [];
  const source = (url = ipinfoUrl) =>
    createIpFacts({ ipinfo: true, ipinfoUrl: url, ipinfoKey: 'a-secret', ipinfoRate: 1000 }, (error) =>
      problems.push(error),
    );

  it('looks a public address up once and returns its record', async () => {
    const facts = await source();
    expect(await facts.lookUp('8.8.8.8', 5000, patience)).toMatchObject(RECORD);
    expect(await facts.lookUp('8.8.8.8', 5000, patience)).toMatchObject(RECORD);
    expect(asked.filter((path) => path === '/8.8.8.8/json/')).toHaveLength(1);
    expect(facts.counts).toEqual({ known: 2, missing: 0 });
  });

  it.each(['127.0.0.1', '10.1.2.3', '::1', 'fe80::1', '192.168.0.1'])(
    'returns null for %s without asking the upstream',
    async (address) => {
      const facts = await source();
      const before = asked.length;
      expect(await facts.lookUp(address, 5000, patience)).toBeNull();
      expect(asked).toHaveLength(before);
      expect(facts.counts).toEqual({ known: 0, missing: 0 });
    },
  );

  it('returns null, and counts a missing record, when the upstream answers late or not at all', async () => {
    const slow = await source();
    expect(await slow.lookUp('9.9.9.9', 100, patience)).toBeNull();
    expect(slow.counts).toEqual({ known: 0, missing: 1 });
    const away = await source('http://127.0.0.1:9/');
    expect(await away.lookUp('1.1.1.1', 1500, patience)).toBeNull();
    expect(away.counts).toEqual({ known: 0, missing: 1 });
    expect(problems).toHaveLength(2);
    expect(JSON.stringify(problems)).not.toContain('a-secret');
  });

  it('returns null when no time is left', async () => {
    expect(await (await source()).lookUp('8.8.4.4', -5, patience)).toBeNull();
  });

  it("adds the record and the address that answered to the service's result", async () => {
    const site = await startSite();
    const running = await startService({ ipinfo: true, ipinfoUrl });
    try {
      const before = asked.length;
      const response = await fetch(`${running.baseUrl}/screenshot`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ url: site.url('/short') }),
      });
      // The only address that tests may capture is private, so it is recorded but not looked up.
      expect(await response.json()).toMatchObject({ data: { remote_ip: '127.0.0.1', ip_info: null } });
      expect(asked).toHaveLength(before);
      expect(running.service.stats().ip_info).toEqual({ known: 0, missing: 0 });
    } finally {
      await running.stop();
      await site.close();
    }
  });
});
