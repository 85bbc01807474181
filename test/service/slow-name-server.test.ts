import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { startNameServer } from '../support/name-server.ts';
import { startService } from '../support/service.ts';

const answerSchema = z.object({
  code: z.string(),
  error: z.string(),
  data: z.object({ url: z.string(), duration_ms: z.number(), failed: z.boolean() }),
});

describe('a capture whose name server never answers', () => {
  it('ends at its own deadline, with a record that names the host', async () => {
    await using nameServer = await startNameServer(() => 'silence');
    const running = await startService({ nameServers: [nameServer.address] });
    try {
      const url = 'http://never.example/';
      const response = await fetch(`${running.baseUrl}/screenshot`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ url, timeoutMs: 500 }),
      });
      expect(response.status).toBe(504);
      const { code, error, data } = answerSchema.parse(await response.json());
      expect(code).toBe('capture_timeout');
      expect(error).toBe('never.example was not resolved within 500 ms');
      expect(data).toMatchObject({ url, failed: true });
    } finally {
      await running.stop();
    }
  });
});
