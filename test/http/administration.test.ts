import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collectingLogger } from '../support/collecting-logger.ts';
import { NO_BROWSER, type RunningService, startService } from '../support/service.ts';
import { keepCapture } from './stored-capture.ts';

const KEY = 'administrator-key';
const CLIENT = {
  api_key: createHash('sha256').update(KEY).digest('hex').slice(0, 8),
  client_address: '127.0.0.1',
};

describe('the log of administrative requests', () => {
  const { logger, lines } = collectingLogger();
  let app: RunningService;
  beforeAll(async () => {
    app = await startService(NO_BROWSER, { apiKey: [KEY] }, logger);
  });
  afterAll(() => app?.stop());

  const headers = { 'X-API-Key': KEY, 'Content-Type': 'application/json' };
  const linesThatSay = (msg: string) => lines.filter((line) => line.msg === msg);

  it('names the API key and the address of the client that removed a capture', async () => {
    await app.service.results.insert((await keepCapture(app.service, 41)).result);
    expect((await app.call('/screenshot/41', { method: 'DELETE', headers })).status).toBe(200);
    expect(linesThatSay('a capture was removed')).toEqual([expect.objectContaining({ capture_id: 41, ...CLIENT })]);
  });

  it('names the API key and the address of the client that set the limits', async () => {
    const body = JSON.stringify({ maxQueue: 7 });
    expect((await app.call('/limits', { method: 'PATCH', headers, body })).status).toBe(200);
    expect(linesThatSay('the limits were changed')).toEqual([expect.objectContaining({ max_queue: 7, ...CLIENT })]);
  });
});
