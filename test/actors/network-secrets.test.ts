import { createServer } from 'node:net';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import type { CapstanEvent } from '../../src/capture/events.ts';
import { createService } from '../../src/mod.ts';
import { listening } from '../egress/listening.ts';
import { startSite } from '../fixtures/site.ts';
import { startProxy } from '../support/proxy.ts';
import { serve } from '../support/serve.ts';

/** Part of every secret that a request can contain. */
const MARK = 'hush';

describe('the secrets of a request', () => {
  it('keeps secrets out of logs, events, records and errors, however the capture ends', async () => {
    const log = new PassThrough();
    const logged = text(log);
    const site = await startSite();
    await using refusing = await startProxy({ credentials: 'some:body' });
    await using silent = await listening(createServer((socket) => socket.destroy()));
    const logger = pino({ level: 'trace' }, log);
    const service = await createService({ allowTargets: ['127.0.0.1'], minFreeMemory: 0, ipinfo: false }, logger);
    const events: CapstanEvent[] = [];
    service.events$.subscribe((event) => events.push(event));
    const app = await serve(service, { logger });

    const secrets = {
      headers: { Authorization: `Bearer ${MARK}` },
      cookies: [{ name: 'session', value: MARK }],
      httpCredentials: { username: 'u', password: MARK },
    };
    const proxy = (port: number) => ({ server: `http://127.0.0.1:${port}`, credentials: secrets.httpCredentials });
    const url = site.url('/members');
    const answers: string[] = [];
    for (const body of [
      { url, ...secrets },
      { url: site.url('/empty-response'), ...secrets },
      { url, ...secrets, proxy: proxy(refusing.port) },
      { url, ...secrets, proxy: proxy(silent.port) },
      { url, ...secrets, proxy: { server: `http://u:${MARK}@10.0.0.1:3128` } },
      // This cookie has more bytes than browsers accept.
      { url, ...secrets, cookies: [{ name: 'session', value: `${MARK}${'é'.repeat(3000)}` }] },
      { url, proxy: { server: `socks5://u:${MARK}@127.0.0.1:1080` } },
      { url, headers: { 'X Key': MARK, Cookie: MARK }, cookies: [{ name: 'a', value: `${MARK};` }] },
    ]) {
      const response = await app.post('/screenshot', body);
      answers.push(`${response.status} ${await response.text()}`);
    }
    await app.close(1000);
    await service.stop();
    await site.close();
    log.end();

    expect(answers.map((answer) => answer.slice(0, 3))).toEqual([
      '200',
      '502',
      '502',
      '502',
      '403',
      '400',
      '400',
      '400',
    ]);
    expect(events.length).toBeGreaterThan(answers.length / 2);
    expect(answers.slice(1).join('\n')).not.toContain(MARK);
    expect(JSON.stringify(events)).not.toContain(MARK);
    expect(await logged).not.toContain(MARK);
  });
});
