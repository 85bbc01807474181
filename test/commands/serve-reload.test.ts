import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { readSecret, signatures } from '../../src/receivers/transports/signature.ts';
import { type Received, SECRET, startReceiver } from '../receivers/receiver.ts';
import { siteForSuite } from '../support/for-suite.ts';
import { ground, serve } from './capstan-process.ts';

const NEW_SECRET = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;

/** Returns the secrets that a message is signed with. */
function secretsOf(message: Received | undefined): readonly string[] {
  const { headers = {}, body = '' } = message ?? {};
  const content = { id: String(headers['webhook-id']), timestamp: Number(headers['webhook-timestamp']), body };
  const given = String(headers['webhook-signature']).split(' ');
  const known = [NEW_SECRET, SECRET].map((secret) => [signatures([readSecret(secret)], content), secret] as const);
  return given.map((signature) => known.find(([right]) => right === signature)?.[1] ?? 'another secret');
}

const Stats = z.object({
  data: z.object({
    queue: z.object({ running: z.number(), max_concurrent: z.number(), max_queue: z.number() }),
    captures: z.object({ accepted: z.number(), inside: z.number() }),
  }),
});

const Watched = z.object({ data: z.object({ id: z.number(), runs: z.number(), next_run_at: z.string() }) });

describe('the reload of capstan serve', () => {
  const site = siteForSuite();

  it('applies the limits of the file to running captures, reports options that need a restart, and survives an invalid file', async () => {
    const place = await ground();
    const file = join(place.path, 'capstan.json');
    const configure = (options: Readonly<Record<string, unknown>>) =>
      writeFile(file, JSON.stringify({ allowTargets: '127.0.0.1', apiKey: 'sesame', ...options }));
    await configure({ maxConcurrent: 1, maxQueue: 5 });
    const service = await serve(['--config', file, '--max-batch', '9'], place.options);
    let said = '';
    service.child.stderr?.on('data', (chunk) => {
      said += String(chunk);
    });
    const headers = { 'X-API-Key': 'sesame', 'Content-Type': 'application/json' };
    const stats = async () => Stats.parse(await (await fetch(`${service.url}/stats`, { headers })).json()).data;
    const limits = async () => {
      const { max_concurrent, max_queue } = (await stats()).queue;
      return [max_concurrent, max_queue];
    };

    const leaving = new AbortController();
    const captures = [1, 2].map(() =>
      fetch(`${service.url}/screenshot`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ url: site.url('/hang') }),
        signal: leaving.signal,
      }).catch(() => null),
    );
    await expect.poll(async () => (await stats()).captures.inside).toBe(2);
    expect(await limits()).toEqual([1, 5]);

    await configure({ maxConcurrent: 2, maxQueue: 7, maxBatch: 8, timeoutMs: 1234, apiKey: 'sesame,hush-hush' });
    service.child.kill('SIGHUP');
    await expect.poll(limits).toEqual([2, 7]);
    await expect.poll(() => site.hits('/hang')).toBe(2);
    expect(await stats()).toMatchObject({ queue: { running: 2 }, captures: { accepted: 2, inside: 2 } });

    await configure({ maxConcurrent: 0, maxQueue: 9 });
    service.child.kill('SIGHUP');
    await expect.poll(() => said).toMatch(/SIGHUP changed nothing: --max-concurrent 0/);
    await writeFile(file, '{"maxQueue');
    service.child.kill('SIGHUP');
    await expect.poll(() => said).toMatch(/SIGHUP changed nothing: .*it takes JSON/);
    expect(await limits()).toEqual([2, 7]);

    leaving.abort();
    await Promise.all(captures);
    service.child.kill('SIGTERM');
    const { code, stderr } = await service.ended;
    expect(code).toBe(0);
    const lines = stderr.split('\n');
    // Names the key without its value, and omits options that a flag sets.
    // The file is read again for the signal and, when it is looked at in between, for its change.
    const waiting = lines.filter((line) => line.includes('after a restart'));
    expect(waiting).not.toEqual([]);
    expect(waiting.filter((line) => !line.includes('"options":["timeoutMs"]'))).toEqual([]);
    expect(stderr).not.toContain('hush-hush');
  });

  it('applies keys with their scopes (also to watches), webhook secrets, target lists and the log level when a file changes', async () => {
    const place = await ground();
    const file = join(place.path, 'capstan.json');
    const keys = join(place.path, 'keys');
    await writeFile(file, '{"logLevel": "warn"}');
    await writeFile(keys, `old:${'a'.repeat(16)}:read\n`);
    const database = ['--db-path', join(place.path, 'results.db')];
    const secrets = join(place.path, 'secrets');
    await writeFile(secrets, SECRET);
    const hooks = ['--webhook-secret-file', secrets, '--allow-webhooks', '127.0.0.1'];
    const service = await serve(['--config', file, '--api-key-file', keys, ...database, ...hooks], place.options);
    let said = '';
    service.child.stderr?.on('data', (chunk) => {
      said += String(chunk);
    });
    const as = (key: string) => ({ 'X-API-Key': key.repeat(16), 'Content-Type': 'application/json' });
    const stats = async (key: string) => (await fetch(`${service.url}/stats`, { headers: as(key) })).status;
    const capture = async (key: string, callback?: string) => {
      const body = JSON.stringify({ url: site.url('/short'), callback });
      return (await fetch(`${service.url}/screenshot`, { method: 'POST', headers: as(key), body })).status;
    };
    const login = await fetch(`${service.url}/session`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ key: 'a'.repeat(16) }),
    });
    const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? '';
    const withCookie = async () => (await fetch(`${service.url}/stats`, { headers: { cookie } })).status;
    expect([await stats('a'), await stats('b'), await capture('a'), await withCookie()]).toEqual([200, 401, 403, 200]);

    // A rotation: first both keys, then only the new one.
    const root = `root:${'c'.repeat(16)}:admin\n`;
    await writeFile(keys, `old:${'a'.repeat(16)}:capture\nnew:${'b'.repeat(16)}:1:capture\n${root}`);
    await expect.poll(() => stats('b')).toBe(200);
    expect(await capture('a')).toBe(403);
    await writeFile(file, '{"logLevel": "info", "allowTargets": "127.0.0.1"}');
    await expect.poll(() => capture('a')).toBe(200);
    expect([await capture('b'), await capture('b')]).toEqual([200, 429]);
    await expect.poll(() => said).toContain('"capture.stored"');
    const watched = JSON.stringify({ url: site.url('/short'), every: '300d' });
    const watch = async (path: string, key: string, init: RequestInit = {}) =>
      Watched.parse(await (await fetch(`${service.url}/watches${path}`, { headers: as(key), ...init })).json()).data;
    const { id } = await watch('', 'a', { method: 'POST', body: watched });
    const runs = async () => (await watch(`/${id}`, 'c')).runs;
    await expect.poll(runs).toBe(1);
    await writeFile(keys, `new:${'b'.repeat(16)}:capture\n${root}`);
    await expect.poll(() => stats('a')).toBe(401);
    expect([await stats('b'), await withCookie(), await capture('b')]).toEqual([200, 401, 200]);

    // The watch of the removed key is due, and skipped.
    const { next_run_at: due } = await watch(`/${id}/run`, 'c', { method: 'POST' });
    await expect.poll(async () => (await watch(`/${id}`, 'c')).next_run_at).not.toBe(due);
    expect(await runs()).toBe(1);

    // Receivers first know both secrets, then only the new one.
    await using receiver = await startReceiver();
    const signedWith = async () => {
      const before = receiver.received.length;
      expect(await capture('b', receiver.url)).toBe(200);
      await expect.poll(() => receiver.received.length).toBe(before + 1);
      return secretsOf(receiver.received.at(-1));
    };
    expect(await signedWith()).toEqual([SECRET]);
    await writeFile(secrets, `${NEW_SECRET}\n${SECRET}\n`);
    await expect.poll(signedWith).toEqual([NEW_SECRET, SECRET]);
    await writeFile(secrets, NEW_SECRET);
    await expect.poll(signedWith).toEqual([NEW_SECRET]);

    // An empty file does not open the service.
    await writeFile(keys, '');
    await expect.poll(() => said).toContain('changed nothing');
    expect([await stats('a'), await stats('b')]).toEqual([401, 200]);
    service.child.kill('SIGTERM');
    expect((await service.ended).code).toBe(0);
  });
});
