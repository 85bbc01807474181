import { describe, expect, it } from 'vitest';
import type { ReceiversConfig } from '../../src/config/slices.ts';
import { shareForNotices } from '../../src/service/receivers/share-for-notices.ts';
import { serviceForSuite } from '../support/for-suite.ts';

const SIGNING_KEY = 'a signing key of the tests, of 40 chars.'.replaceAll(' ', '-');
const running = serviceForSuite({ signingKey: [SIGNING_KEY] }, { signingKey: [SIGNING_KEY] });

const config = (): ReceiversConfig => ({
  ...{ publicUrl: `${running.baseUrl}/`, signingKey: [SIGNING_KEY], maxShareDays: 30 },
  ...{ apiKey: [], namedKeys: [], isolateKeys: false },
  ...{ webhook: [], webhookSecret: [], notify: [], alert: [] },
});
const shareWith = (some: Partial<ReceiversConfig> = {}) =>
  shareForNotices({ ...config(), ...some }, running.service.sharedLinks, () => false);

async function capture(colour: string): Promise<number> {
  const html = `<body style="background:${colour}"><p>Lamps`;
  const answer = await running.post('/screenshot', { html }, { headers: { accept: 'image/png' } });
  await answer.arrayBuffer();
  return Number(answer.headers.get('x-capture-id'));
}

describe('links in messages', () => {
  it('open the page and the images of a change without a key', async () => {
    const [before, after] = [await capture('red'), await capture('green')];
    const urls = await shareWith()({ before, after }, null);
    const answers = await Promise.all(Object.values(urls ?? {}).map((url) => fetch(url)));
    expect(answers.map(({ status, headers }) => [status, headers.get('content-type')?.split(';')[0]])).toEqual([
      [200, 'text/html'],
      ...[200, 200, 200].map((status) => [status, 'image/png']),
    ]);
  });

  it('are the same for each attempt and each receiver, with one stored link', async () => {
    const after = await capture('blue');
    const share = shareWith();
    const [first, second] = await Promise.all([
      share({ before: null, after }, null),
      share({ before: null, after }, null),
    ]);
    expect(await share({ before: null, after }, null)).toEqual(first);
    expect(second).toEqual(first);
    const wanted = { ofKey: undefined, capture: after, limit: 10, after: undefined, now: Date.now() };
    expect(await running.service.sharedLinks.list(wanted)).toHaveLength(1);
  });

  it('do not come back when they were revoked', async () => {
    const after = await capture('yellow');
    const share = shareWith();
    const url = (await share({ before: null, after }, null))?.page ?? '';
    const wanted = { ofKey: undefined, capture: after, limit: 10, after: undefined, now: Date.now() };
    const list = () => running.service.sharedLinks.list(wanted);
    const [{ id } = { id: '' }] = await list();
    expect((await running.call(`/shares/${id}`, { method: 'DELETE' })).status).toBe(200);
    expect(await share({ before: null, after }, null)).toBeNull();
    expect(await list()).toEqual([]);
    expect((await fetch(url)).status).toBe(404);
    expect((await running.call(`/shares/${id}`, { method: 'DELETE' })).status).toBe(404);
  });

  it('are left out without a public address or a signing key', async () => {
    const captures = { before: null, after: 1 };
    expect(await shareWith({ publicUrl: null })(captures, null)).toBeNull();
    expect(await shareWith({ signingKey: [] })(captures, null)).toBeNull();
  });
});
