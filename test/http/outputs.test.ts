import { expect, it } from 'vitest';
import { z } from 'zod';
import { NAMED_OUTPUT_KINDS, OUTPUT_KINDS } from '../../src/capture/artifacts/artifacts.ts';
import { ElementMapSchema } from '../../src/capture/comparison/element-map.ts';
import { DetailedResultSchema, FailureSchema } from '../../src/http/answer/schemas.ts';
import type { RunningApp } from '../support/serve.ts';
import { describeWithTenants, TENANTS, tenantsForSuite } from './tenants.ts';

const [FLOOD, SHOP] = TENANTS;
const HTML = '<!doctype html><title>Port</title><p>Four ships wait.</p><p style="display:none">Unseen</p>';
const TEXT = 'Four ships wait.\n';

const Answer = z.object({ data: DetailedResultSchema });
const JobAnswer = z.object({
  data: z.object({ id: z.string(), state: z.string(), results: z.array(z.object({ result: z.unknown() })).optional() }),
});

/** Returns the functions with which a key uses a service. */
function clientOf(app: RunningApp, { key }: { readonly key: string }) {
  const headers = { 'X-Api-Key': key };
  const call = (path: string, init: RequestInit = {}) =>
    app.call(path, { ...init, headers: { ...headers, ...Object.fromEntries(new Headers(init.headers)) } });
  const shoot = async (request: Readonly<Record<string, unknown>>) => {
    const response = await app.post('/screenshot', { html: HTML, ...request }, { headers });
    expect(response.status, await response.clone().text()).toBe(200);
    return Answer.parse(await response.json()).data;
  };
  return { call, shoot, headers };
}

describeWithTenants((start) => {
  const running = tenantsForSuite(() => start({}));

  it('stores outputs, lists them, serves them to their own key, whole, in ranges and by ETag, and removes them', async () => {
    const { apps } = await running();
    const [app, other = app] = apps;
    if (app === undefined || other === undefined) throw new Error('there is no app');
    const { call, shoot } = clientOf(app, SHOP);
    const { id, outputs } = await shoot({ outputs: ['text'] });
    const path = `/screenshot/${id}?view=text`;
    const bytes = TEXT.length;
    expect(outputs).toEqual([{ name: 'text', path, type: 'text/plain; charset=utf-8', bytes, partial: false }]);
    const listed = await (await call(`/results/${id}`)).json();
    expect(listed).toMatchObject({ data: { outputs, options: { outputs: ['text'] } } });

    const elsewhere = clientOf(other, SHOP);
    const whole = await elsewhere.call(path);
    expect([whole.status, await whole.text()]).toEqual([200, TEXT]);
    expect(whole.headers.get('Content-Type')).toBe('text/plain; charset=utf-8');
    expect(whole.headers.get('Content-Security-Policy')).toContain('sandbox');
    const etag = whole.headers.get('ETag') ?? '';
    expect((await call(path, { headers: { 'If-None-Match': etag } })).status).toBe(304);
    const part = await call(path, { headers: { Range: 'bytes=5-9', 'If-Range': etag } });
    expect([part.status, await part.text()]).toEqual([206, 'ships']);

    const map = await elsewhere.call(`/screenshot/${id}?view=elements`);
    expect(ElementMapSchema.parse(await map.json()).entries).toContainEqual(expect.objectContaining({ tag: 'p' }));
    for (const view of ['text', 'elements']) {
      expect((await clientOf(app, FLOOD).call(`/screenshot/${id}?view=${view}`)).status).toBe(404);
    }
    expect((await elsewhere.call(`/screenshot/${id}`, { method: 'DELETE' })).status).toBe(200);
    expect((await call(path)).status).toBe(404);
  });

  it('answers with the Markdown when Accept prefers it, and stores the capture all the same', async () => {
    const { one } = await running();
    const { call, headers } = clientOf(one, SHOP);
    const ask = (Accept: string, request = {}) =>
      one.post('/screenshot', { html: HTML, ...request }, { headers: { ...headers, Accept } });
    for (const request of [{}, { outputs: ['text'], format: 'jpeg' }]) {
      const answer = await ask('text/markdown, application/json;q=0.5', request);
      expect([answer.status, answer.headers.get('Content-Type')]).toEqual([200, 'text/markdown; charset=utf-8']);
      expect(await answer.text()).toBe(TEXT);
      const stored = await call(`${answer.headers.get('Location')}?view=markdown`);
      expect([stored.headers.get('ETag'), await stored.text()]).toEqual([answer.headers.get('ETag'), TEXT]);
    }
    const json = await ask('application/json, text/markdown;q=0.5');
    expect(Answer.parse(await json.json()).data.outputs).toEqual([]);
    expect((await ask('text/csv')).status).toBe(406);
  });

  it('stores and serves every kind of output with its type and size', async () => {
    const { one } = await running();
    const { call, shoot } = clientOf(one, SHOP);
    const asked = { outputs: NAMED_OUTPUT_KINDS, har: { bodies: true }, extract: { said: 'p' } };
    const { outputs } = await shoot({ ...asked, timeoutMs: 60_000 });
    expect(outputs.map(({ name }) => name)).toEqual(OUTPUT_KINDS);
    for (const { path, type, bytes, partial } of outputs) {
      const file = await call(path);
      expect([file.status, file.headers.get('Content-Type'), partial]).toEqual([200, type, false]);
      const content = Buffer.from(await file.arrayBuffer());
      expect(content.byteLength).toBe(bytes);
      if (path.endsWith('har')) expect(JSON.parse(String(content)).log.entries[0].response.content.text).toBe(HTML);
    }
  });

  it('makes none without the option, and reuses only a capture with the same outputs', async () => {
    const { one } = await running();
    const { call, shoot } = clientOf(one, SHOP);
    const reused = { html: `${HTML}<!-- reused -->`, cacheMaxAgeMs: 3_600_000 };
    const plain = await shoot(reused);
    expect(plain.outputs).toEqual([]);
    const missing = await call(`/screenshot/${plain.id}?view=text`);
    expect(missing.status).toBe(404);
    expect(await missing.json()).toMatchObject({
      code: 'not_found',
      error: `The capture ${plain.id} has no text: it has image, html.`,
    });
    const first = await shoot({ ...reused, outputs: ['text'] });
    expect(first.cached).toBe(false);
    const second = await shoot({ ...reused, outputs: ['text'] });
    expect(second).toMatchObject({ id: first.id, cached: true, outputs: first.outputs });
    expect(await shoot(reused)).toMatchObject({ id: plain.id, cached: true });

    const said = await shoot({ ...reused, extract: { said: 'p' } });
    expect(said).toMatchObject({ cached: false, extract: { said: 'Four ships wait.' } });
    const { options, outputs, extract } = said;
    expect(outputs).toMatchObject([{ name: 'extract', path: `/screenshot/${said.id}?view=extract` }]);
    const listed = await (await call(`/results/${said.id}`)).json();
    expect(listed).toMatchObject({ data: { extract, options } });
    for (const same of [{ extract: { said: { selector: 'p', type: 'text' } } }, options])
      expect(await shoot({ ...reused, ...same })).toMatchObject({ id: said.id, cached: true, extract });
    const other = await shoot({ ...reused, extract: { said: 'p', top: { rules: { title: '//title' } } } });
    expect(other).toMatchObject({ cached: false, extract: { ...extract, top: { title: null } } });
    expect(await shoot({ ...reused, ...other.options })).toMatchObject({ id: other.id, cached: true });

    const large = await shoot({ html: `<p>${'word '.repeat(2_000)}`, extract: { said: 'p' } });
    expect(large.extract).toBeNull();
    const file = await (await call(large.outputs[0]?.path ?? '')).json();
    expect(file).toEqual({ said: 'word '.repeat(2_000).trim() });
  });

  it('makes them for the lines of a batch and for jobs', async () => {
    const { one } = await running();
    const { call, headers } = clientOf(one, SHOP);
    const request = { html: HTML, outputs: ['text'], extract: { said: 'p' } };
    const made = {
      outputs: [{ name: 'text', bytes: 17 }, { name: 'extract' }],
      extract: { said: 'Four ships wait.' },
    };
    const lines = await one.call('/batch', {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/x-ndjson', Accept: 'application/x-ndjson' },
      body: JSON.stringify(request),
    });
    expect(JSON.parse(await lines.text())).toMatchObject({ result: made });
    const accepted = await one.post('/screenshot', request, { headers: { ...headers, Prefer: 'respond-async' } });
    const { id } = JobAnswer.parse(await accepted.json()).data;
    const job = async () => JobAnswer.parse(await (await call(`/jobs/${id}`)).json()).data;
    await expect.poll(async () => (await job()).state).toBe('completed');
    expect((await job()).results).toMatchObject([{ result: made }]);
  });

  it('refuses an unknown output, and a rule that cannot be followed, by its name', async () => {
    const { one } = await running();
    const { headers } = clientOf(one, SHOP);
    const refused = await one.post('/screenshot', { html: HTML, outputs: ['txt'] }, { headers });
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('outputs')]);
    const rules: readonly (readonly [rules: unknown, problem: string])[] = [
      [{ price: { selector: '.price', type: 'currency' } }, 'extract.price: type: must be text,'],
      [{ price: { selector: 5 } }, 'extract.price: selector: must be a CSS selector'],
      [{ price: 'p >' }, 'extract.price'],
      [{ price: 'p:nope' }, 'extract.price.selector'],
      [{ price: { type: 'attribute' } }, 'extract.price: attribute: is required'],
      [{ price: { selectr: 'p' } }, 'extract.price.selectr: is not a field of a rule; did you mean selector?'],
      [{ list: { rules: { price: { type: 'box', attribute: 'x' } } } }, 'extract.list: rules.price: attribute: cannot'],
      [{ a: { rules: { b: { rules: { c: { rules: { d: 'p' } } } } } } }, 'must not be nested in more than 3 levels'],
      [{ 'no name': 'p' }, 'extract.no name: must have a name of 1 to 64'],
      [Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`r${at}`, 'p'])), 'at most 100 rules'],
      [{}, 'extract: must have a rule'],
      ['p', 'extract: must be an object of named rules'],
    ];
    for (const [extract, problem] of rules) {
      const answer = await one.post('/screenshot', { html: HTML, extract }, { headers });
      const { error, code } = FailureSchema.parse(await answer.json());
      expect([answer.status, code, error]).toEqual([400, 'invalid_request', expect.stringContaining(problem)]);
    }
  });
});
