import { expect, it } from 'vitest';
import { z } from 'zod';
import { ReceiverSchema, ReceiverTestSchema } from '../../src/capture/work/receiver.ts';
import { type Receiver, SECRET, startReceiver, statuses } from '../receivers/receiver.ts';
import { forSuite } from '../support/for-suite.ts';
import { NO_BROWSER } from '../support/service.ts';
import { failureOf } from './answers.ts';
import { ask, describeWithTenantsOfEachDatabase, TENANTS, tenantsForSuite } from './tenants.ts';

const Listed = z.object({ data: z.array(ReceiverSchema) });
const Tested = z.object({ data: ReceiverTestSchema });
const Letters = z.object({ data: z.array(z.looseObject({ id: z.string(), about: z.string() })) });

const pages = ({ received }: Receiver, from = 0) =>
  received.slice(from).map(({ body }) => new URL(JSON.parse(body).url).pathname);

describeWithTenantsOfEachDatabase((start) => {
  const team = forSuite(
    () => startReceiver(),
    async (receiver) => receiver[Symbol.asyncDispose](),
  );
  const many = { name: 'many', key: 'many-key', rate: null, scope: 'capture' } as const;
  const namedKeys = [...TENANTS, many];
  const tenants = tenantsForSuite(() => {
    const receivers = { webhookSecret: [SECRET], allowWebhooks: ['127.0.0.1'], notify: [`team=webhook:${team.url}`] };
    return start({ ...NO_BROWSER, ...receivers, namedKeys }, { namedKeys, apiKey: namedKeys.map(({ key }) => key) });
  });
  // With two api nodes, what one was given is used by the other.
  const as = (name: string) => ({
    post: async (path: string, body: unknown = {}) => ask((await tenants()).one, `${name}-key`, path, 'POST', body),
    call: async (path: string, method = 'GET') => {
      const { apps, one } = await tenants();
      return ask(apps.at(-1) ?? one, `${name}-key`, path, method);
    },
  });
  /** Each refused capture is an event of the key. */
  const refused = (name: string, page: string) => as(name).post('/screenshot', { url: `http://10.0.0.1/${page}` });
  const queryFor = (name: string, notify: readonly string[]) =>
    as(name).post('/queries', { filter: { type: ['capture.rejected'] }, notify });
  it('shows and uses the receivers of the operator and of the own key, and no others', async () => {
    await using own = await startReceiver();
    const added = await as('shop').post('/receivers', { name: 'mine', kind: 'webhook', address: own.url, every: '1h' });
    expect(added.status).toBe(201);
    expect(await added.text()).not.toContain('key=k');
    const names = async (name: string) =>
      Listed.parse(await (await as(name).call('/receivers')).json()).data.map((receiver) => receiver.name);
    expect(await names('shop')).toEqual(['team', 'mine']);
    expect(await names('flood')).toEqual(['team']);
    for (const [path, method] of [
      ['/receivers/mine', 'GET'],
      ['/receivers/mine', 'DELETE'],
      ['/receivers/mine/dead', 'GET'],
    ]) {
      expect((await as('flood').call(path ?? '', method)).status).toBe(404);
    }
    const unknown = await queryFor('flood', ['mine']);
    expect(unknown.status).toBe(400);
    expect((await failureOf(unknown)).data?.problems).toEqual([{ path: 'notify[0]' }]);
    expect((await as('shop').call('/receivers/mine', 'DELETE')).status).toBe(200);
    expect(await names('shop')).toEqual(['team']);
  });

  it('refuses a private address, and a name that the operator uses', async () => {
    const add = (name: string, address: string) => as('shop').post('/receivers', { name, kind: 'webhook', address });
    expect((await add('inside', 'http://10.0.0.1/')).status).toBe(403);
    expect((await add('team', team.url)).status).toBe(400);
    expect((await add('callback', team.url)).status).toBe(400);
  });

  it('sends a sample, and answers how that ended', async () => {
    await using busy = await startReceiver(statuses(503));
    await as('shop').post('/receivers', { name: 'busy', kind: 'webhook', address: busy.url });
    const test = async (name: string) =>
      Tested.parse(await (await as('shop').post(`/receivers/${name}/test`)).json()).data;
    expect(await test('team')).toEqual({ delivered: true, status: 204, reason: null });
    expect(await test('busy')).toMatchObject({ delivered: false, status: 503 });
  });

  it('sends at most 10 samples a minute for each key', async () => {
    const test = (name: string) => as(name).post('/receivers/team/test');
    // Within a minute, 10 more may be sent.
    const answers = await Promise.all(Array.from({ length: 21 }, () => test('many')));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    expect(answers.length - refused.length).toBeGreaterThanOrEqual(10);
    expect(refused[0]?.headers.get('retry-after')).toMatch(/^\d+$/);
    expect((await test('flood')).status).toBe(200);
  });

  it('tells the receivers of a scan of its end', async () => {
    await using done = await startReceiver();
    await as('shop').post('/receivers', { name: 'done', kind: 'webhook', address: done.url });
    const scan = await as('shop').post('/scans', { targets: '10.0.0.1\n10.0.0.2', notify: ['done'] });
    expect(scan.status).toBe(202);
    const ended = { type: 'batch.completed', size: 2, failed: 2, api_key_name: 'shop' };
    await expect.poll(() => done.received.map(({ body }) => JSON.parse(body))).toMatchObject([ended]);
  });

  it('tells the receivers of a standing query of the events of its key, and keeps dead letters of the key alone', async () => {
    const before = team.received.length;
    await using gone = await startReceiver(statuses(410, 204));
    await as('shop').post('/receivers', { name: 'gone', kind: 'webhook', address: gone.url });
    expect((await queryFor('shop', ['team', 'gone'])).status).toBe(201);
    await refused('flood', 'theirs');
    await refused('shop', 'ours');
    await expect.poll(() => pages(team, before)).toEqual(['/ours']);
    const dead = async (name: string) =>
      Letters.parse(await (await as(name).call('/receivers/gone/dead')).json()).data.map(({ about }) => about);
    await expect.poll(() => dead('shop')).toEqual(['capture.rejected']);
    expect((await as('flood').call('/receivers/gone/dead')).status).toBe(404);
    expect((await as('shop').post('/receivers/gone/dead/retry')).status).toBe(200);
    await expect.poll(() => pages(gone)).toEqual(['/ours', '/ours']);
    await expect.poll(() => dead('shop')).toEqual([]);
  });
});
