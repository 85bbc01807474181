import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ResultSchema } from '../../src/http/answer/schemas.ts';
import { serviceForSuite, siteForSuite } from '../support/for-suite.ts';
import { subscribe } from './event-subscriber.ts';

const site = siteForSuite();
const app = serviceForSuite();

const Page = z.object({ data: z.array(ResultSchema) });

const GITHUB = 'GitHub';
const BLOCKED = 'Cloudflare managed challenge';
const FERRIES = 'An article';

const urlOf = (name: string) => site.url(`/verdict?${new URLSearchParams({ page: name })}`);
const pageOf = (url: string) => new URL(url).searchParams.get('page');

async function listed(path: string): Promise<readonly (string | null)[]> {
  const response = await app.call(path);
  expect(response.status).toBe(200);
  return Page.parse(await response.json()).data.map(({ url }) => pageOf(url));
}

describe('verdicts over HTTP', () => {
  it('are in the result, in the header of an image, and a condition of every list, of events and of metrics', async () => {
    const events = await subscribe(`${app.baseUrl}/events?verdict=bot_wall`);
    const replies = await Promise.all(
      [GITHUB, BLOCKED, FERRIES].map((name) =>
        app.post('/screenshot', { url: urlOf(name) }, { headers: { Accept: 'image/png' } }),
      ),
    );
    expect(replies.map(({ headers }) => headers.get('X-Capture-Verdict'))).toEqual([
      'login_wall',
      'bot_wall',
      'content',
    ]);
    await Promise.all(replies.map((reply) => reply.arrayBuffer()));

    const { host } = new URL(site.origin);
    const lists = [
      '/results?',
      `/results/by-host?host=${host.split(':')[0]}&`,
      `/results/by-url?url=${encodeURIComponent(urlOf(BLOCKED))}&`,
    ];
    for (const list of lists) expect(await listed(`${list}verdict=bot_wall`)).toEqual([BLOCKED]);
    expect(await listed('/results?verdict=content')).toEqual([FERRIES]);
    expect(await listed('/results?verdict=parked')).toEqual([]);

    const [event] = await events.take(1);
    expect(event?.data).toMatchObject({ type: 'capture.stored', result: { verdict: 'bot_wall' } });
    await events.close();

    const metrics = await (await app.call('/metrics')).text();
    const counted = metrics.split('\n').filter((line) => line.startsWith('capstan_capture_verdicts_total'));
    expect(counted.toSorted()).toEqual([
      'capstan_capture_verdicts_total{verdict="bot_wall"} 1',
      'capstan_capture_verdicts_total{verdict="content"} 1',
      'capstan_capture_verdicts_total{verdict="login_wall"} 1',
    ]);
  });

  it('are refused as a condition with the ones that exist', async () => {
    const response = await app.call('/results?verdict=captcha');
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('must be one of content, bot_wall, login_wall');
  });
});
