import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { examineNats } from '../../src/doctor/nats.ts';
import { freePort } from '../support/free-port.ts';
import { startNats } from '../support/nats.ts';

/** Debian's `nats-server`. With CI=true a missing one fails the test. */
const SERVER = '/usr/sbin/nats-server';
const missing = await once(spawn(SERVER, ['--version'], { stdio: 'ignore' }), 'exit').then(
  () => false,
  () => process.env.CI !== 'true',
);

const on = (url: string) => ({ natsUrl: [url], natsCreds: null, natsTlsCa: null, natsTlsCert: null, natsTlsKey: null });

describe('the check of NATS', () => {
  it.skipIf(missing)('distinguishes a server without JetStream from a server that does not run', async () => {
    const port = await freePort();
    const url = `nats://user:secret@127.0.0.1:${port}`;
    const [away] = await examineNats(on(url));
    expect(away).toMatchObject({ state: 'failure', found: expect.stringContaining('ECONNREFUSED') });
    const server = spawn(SERVER, ['-a', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' });
    onTestFinished(() => void server.kill());
    await expect
      .poll(async () => (await examineNats(on(url)))[0])
      .toMatchObject({
        check: 'NATS',
        state: 'failure',
        found: expect.stringMatching(new RegExp(`^127\\.0\\.0\\.1:${port}, version [\\d.]+, has no JetStream$`)),
      });
    expect(JSON.stringify(away)).not.toContain('secret');
  });

  it.skipIf(missing)('logs in as the service would, and reports wrong credentials', async () => {
    const nats = await startNats(['--user', 'capstan', '--pass', 'right']);
    onTestFinished(() => nats.remove());
    const withUser = (user: string) => on(nats.url.replace('//', `//${user}@`));
    const [right] = await examineNats(withUser('capstan:right'));
    expect(right).toMatchObject({ state: 'ok', found: expect.stringContaining('with JetStream') });
    const wrong = await Promise.all([examineNats(withUser('capstan:guessed')), examineNats(on(nats.url))]);
    for (const [finding] of wrong) {
      expect(finding).toMatchObject({ state: 'failure', found: expect.stringMatching(/authorization/i) });
    }
    expect(JSON.stringify(wrong)).not.toContain('guessed');
  });

  it('returns no finding without a cluster', async () => {
    expect(await examineNats({ ...on(''), natsUrl: [] })).toEqual([]);
  });
});
