import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { serversForSuite, whyNoCluster } from '../cluster/cluster-of-processes.ts';
import { memberFlags } from '../cluster/member-flags.ts';
import { siteForSuite } from '../support/for-suite.ts';
import { capstan, type Ground, ground, serve } from './capstan-process.ts';

const CONFIG = join(import.meta.dirname, '../../config');
const KEY = 'k'.repeat(32);
const whyNot = await whyNoCluster();
const reason = whyNot === undefined ? '' : ` (skipped: ${whyNot})`;

/** Starts the service with a file of `config/`; flags replace the addresses and paths that only a real machine has. */
async function start(place: Ground, file: string, flags: readonly string[]) {
  const keys = join(place.path, 'keys');
  await writeFile(keys, `operator:${KEY}\n`);
  await chmod(keys, 0o600);
  const directory = ['--host', '127.0.0.1', '--api-key-file', keys, '--data-dir', join(place.path, 'data')];
  return serve(['--config', join(CONFIG, file), ...directory, ...flags], place.options);
}

/** Resolves when the service says that it is ready. */
async function isReady(url: string): Promise<void> {
  await expect.poll(() => fetch(`${url}/readyz`).then(({ status }) => status)).toBe(200);
}

describe('a file with a byte order mark', () => {
  it('is read, as a configuration and as a file of keys', async () => {
    const { path, options } = await ground();
    await writeFile(join(path, 'c.json'), '\uFEFF{"port": 18309}');
    await writeFile(join(path, 'keys'), `\uFEFFoperator:${KEY}\n`, { mode: 0o600 });
    const args = ['serve', '--config', 'c.json', '--api-key-file', 'keys', '--print-config'];
    const { code, stdout, stderr } = await capstan(args, options);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({ port: 18309 });
  });
});

describe('config/production.json', () => {
  it('starts a service that asks for a key', async () => {
    const place = await ground();
    const { url, child, ended } = await start(place, 'production.json', ['--db-path', join(place.path, 'results.db')]);
    await isReady(url);
    expect((await fetch(`${url}/results`)).status).toBe(401);
    child.kill('SIGTERM');
    expect(await ended).toMatchObject({ code: 0 });
  });
});

describe.skipIf(whyNot !== undefined)(`the configuration files of a cluster${reason}`, () => {
  const servers = serversForSuite();
  const site = siteForSuite();

  it('start an api node and a worker that captures for it', async () => {
    const apiPlace = await ground();
    const workerPlace = await ground();
    const flags = [...memberFlags(servers, 'config-files'), '--allow-targets', '127.0.0.1'];
    const api = await start(apiPlace, 'api-node.json', flags);
    const worker = await start(workerPlace, 'worker.json', flags);
    await Promise.all([isReady(api.url), isReady(worker.url)]);
    const answer = await fetch(`${api.url}/screenshot`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ url: site.url('/title?t=configured') }),
    });
    expect({ status: answer.status, body: await answer.json() }).toMatchObject({
      status: 200,
      body: { data: { title: 'configured' } },
    });
    for (const { child } of [worker, api]) child.kill('SIGTERM');
    expect(await Promise.all([api.ended, worker.ended])).toMatchObject([{ code: 0 }, { code: 0 }]);
  });
});
