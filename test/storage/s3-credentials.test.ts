import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { credentialSource } from '../../src/storage/s3/credentials.ts';
import { listening } from '../egress/listening.ts';
import { makeDirectory } from '../support/temporary-directory.ts';

const NONE = { s3AccessKey: null, s3SecretKey: null };
const OF_ENVIRONMENT = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret', AWS_SESSION_TOKEN: 'session' };

const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();

/** An endpoint that hands out keys with this end, or answers with this status, and counts what it is asked. */
async function endpoint(Expiration: string, status = 200) {
  const asked: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    asked.push(request.headers.authorization);
    response.statusCode = status;
    response.end(JSON.stringify({ AccessKeyId: `id-${asked.length}`, SecretAccessKey: 's', Token: 't', Expiration }));
  });
  const { port, ...rest } = await listening(server, '127.0.0.1');
  return { ...rest, asked, uri: `http://127.0.0.1:${port}/v1/credentials` };
}

describe('the keys of an object store', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance'] });
  });

  afterEach(() => {
    vi.useRealTimers();
  });

  const afterAMinute = () => vi.advanceTimersByTime(60_000);

  it('are those of the configuration, else those of the environment', async () => {
    const configured = credentialSource({ s3AccessKey: 'own', s3SecretKey: 'hush' }, OF_ENVIRONMENT);
    expect(await configured()).toEqual({ accessKeyId: 'own', secretAccessKey: 'hush' });
    const given = { accessKeyId: 'id', secretAccessKey: 'secret', sessionToken: 'session' };
    expect(await credentialSource(NONE, OF_ENVIRONMENT)()).toEqual(given);
    await expect(credentialSource(NONE, {})()).rejects.toThrow('there are no keys: set --s3-access-key-file');
  });

  it('come from the endpoint of the container, with its token, and are kept until shortly before their end', async () => {
    const token = join(await makeDirectory(), 'token');
    await writeFile(token, 'open sesame\n');
    const { asked, uri, ...server } = await endpoint(inMs(3_600_000));
    await using _ = server;
    const env = { AWS_CONTAINER_CREDENTIALS_FULL_URI: uri, AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: token };
    const source = credentialSource(NONE, env);
    const both = await Promise.all([source(), source()]);
    expect([...both, await source()].map(({ accessKeyId }) => accessKeyId)).toEqual(['id-1', 'id-1', 'id-1']);
    expect(asked).toEqual(['open sesame']);
  });

  it('are asked for again shortly before they end, and used to their end when the endpoint is gone', async () => {
    const { asked, uri, ...server } = await endpoint(inMs(60_000));
    const source = credentialSource(NONE, { AWS_CONTAINER_CREDENTIALS_FULL_URI: uri });
    expect((await source()).accessKeyId).toBe('id-1');
    expect((await source()).accessKeyId).toBe('id-1');
    afterAMinute();
    expect((await source()).accessKeyId).toBe('id-2');
    await server[Symbol.asyncDispose]();
    afterAMinute();
    expect((await source()).accessKeyId).toBe('id-2');
    expect(asked).toHaveLength(2);
  });

  it('are asked for again after a minute when their end cannot be read', async () => {
    const { uri, ...server } = await endpoint('soon');
    await using _ = server;
    const source = credentialSource(NONE, { AWS_CONTAINER_CREDENTIALS_FULL_URI: uri });
    expect((await source()).accessKeyId).toBe('id-1');
    expect((await source()).accessKeyId).toBe('id-1');
    afterAMinute();
    expect((await source()).accessKeyId).toBe('id-2');
  });

  it('are not used for longer when their end cannot be read and the endpoint is gone', async () => {
    const { uri, ...server } = await endpoint('soon');
    const source = credentialSource(NONE, { AWS_CONTAINER_CREDENTIALS_FULL_URI: uri });
    expect((await source()).accessKeyId).toBe('id-1');
    await server[Symbol.asyncDispose]();
    afterAMinute();
    await expect(source()).rejects.toThrow(/gave no keys: .*ECONNREFUSED/);
    await expect(source()).rejects.toThrow(/gave no keys: .*ECONNREFUSED/);
  });

  it('are used for a minute when they had ended by the clock of this machine as they were handed out', async () => {
    const { asked, uri, ...server } = await endpoint(inMs(-3_600_000));
    const source = credentialSource(NONE, { AWS_CONTAINER_CREDENTIALS_FULL_URI: uri });
    for (let request = 0; request < 5; request++) expect((await source()).accessKeyId).toBe('id-1');
    afterAMinute();
    expect((await source()).accessKeyId).toBe('id-2');
    expect(asked).toHaveLength(2);
    await server[Symbol.asyncDispose]();
    afterAMinute();
    await expect(source()).rejects.toThrow('gave no keys');
  });

  it('are asked for at most once a minute when they end soon and the endpoint refuses to renew them', async () => {
    let asked = 0;
    const { port, ...server } = await listening(
      createServer((_request, response) => {
        asked += 1;
        response.statusCode = asked === 1 ? 200 : 403;
        response.end(JSON.stringify({ AccessKeyId: 'id', SecretAccessKey: 's', Expiration: inMs(240_000) }));
      }),
      '127.0.0.1',
    );
    await using _ = server;
    const env = { AWS_CONTAINER_CREDENTIALS_FULL_URI: `http://127.0.0.1:${port}/` };
    const source = credentialSource(NONE, env);
    await source();
    afterAMinute();
    for (let request = 0; request < 3; request++) expect((await source()).accessKeyId).toBe('id');
    expect(asked).toBe(2);
  });

  it('are refused with the reason when the endpoint refuses the first request, or the token cannot be read', async () => {
    const { uri, ...server } = await endpoint('', 403);
    await using _ = server;
    const env = { AWS_CONTAINER_CREDENTIALS_FULL_URI: uri };
    await expect(credentialSource(NONE, env)()).rejects.toThrow(/gave no keys: .*403/);
    const token = { AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: join(await makeDirectory(), 'none') };
    await expect(credentialSource(NONE, { ...env, ...token })()).rejects.toThrow(/gave no keys: .*ENOENT/);
  });

  it('are not asked of another host without TLS', () => {
    const env = { AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://example.com/credentials' };
    expect(() => credentialSource(NONE, env)).toThrow('names example.com without TLS; it takes https');
  });
});
