import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { examineNats } from '../../src/doctor/nats.ts';
import { freePort } from '../support/actor.ts';
import { eventually } from '../support/eventually.ts';

/** Debian's `nats-server`. With CI=true a missing one fails the test. */
const SERVER = '/usr/sbin/nats-server';
const missing = await once(spawn(SERVER, ['--version'], { stdio: 'ignore' }), 'exit').then(
  () => false,
  () => process.env.CI !== 'true',
);

describe('the check of NATS', () => {
  it.skipIf(missing)('distinguishes a server without JetStream from a server that does not run', async () => {
    const port = await freePort(createServer());
    const url = `nats://user:secret@127.0.0.1:${port}`;
    const [away] = await examineNats({ natsUrl: [url] });
    expect(away).toMatchObject({ state: 'failure', found: expect.stringContaining('ECONNREFUSED') });
    const server = spawn(SERVER, ['-a', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' });
    onTestFinished(() => void server.kill());
    await eventually(async () => (await examineNats({ natsUrl: [url] }))[0]).toMatchObject({
      check: 'NATS',
      state: 'failure',
      found: expect.stringMatching(new RegExp(`^127\\.0\\.0\\.1:${port}, version [\\d.]+, has no JetStream$`)),
    });
    expect(JSON.stringify(away)).not.toContain('secret');
  });

  it('returns no finding without a cluster', async () => {
    expect(await examineNats({})).toEqual([]);
  });
});
