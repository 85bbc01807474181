import { expect, it } from 'vitest';
import { ground, serve } from '../commands/capstan-process.ts';
import { SECRET, startReceiver } from '../receivers/receiver.ts';
import { siteForSuite } from '../support/for-suite.ts';
import { capture } from './client.ts';

const site = siteForSuite();

it('tells the receivers of --webhook of every capture that was answered, also when it is killed at once', async () => {
  const place = await ground();
  const away = await startReceiver();
  const { port } = new URL(away.url);
  await away[Symbol.asyncDispose]();
  const allowed = ['--allow-targets', '127.0.0.1', '--allow-webhooks', '127.0.0.1'];
  const flags = ['--db-path', 'results.db', ...allowed, '--webhook', away.url, '--webhook-secret', SECRET];
  const first = await serve(flags, place.options);
  const { status, result } = await capture(first.url, { url: site.url('/short') });
  first.child.kill('SIGKILL');
  await first.ended;
  expect(status).toBe(200);

  await using back = await startReceiver(undefined, { port: Number(port) });
  const second = await serve(flags, place.options);
  await expect
    .poll(() => back.received.map(({ body }) => JSON.parse(body)))
    .toMatchObject([{ type: 'capture.stored', id: result?.id }]);
  second.child.kill('SIGTERM');
  await second.ended;
});
