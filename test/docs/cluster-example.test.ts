import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { whyNoCluster } from '../cluster/cluster-of-processes.ts';
import { ground, serve } from '../commands/capstan-process.ts';
import { siteForSuite } from '../support/for-suite.ts';
import { startNats } from '../support/nats.ts';
import { sharedMongo } from '../support/shared-mongo.ts';
import { readPages } from './pages.ts';

const whyNot = await whyNoCluster();
const reason = whyNot === undefined ? '' : ` (skipped: ${whyNot})`;

const page = readPages().find(({ path }) => path === 'docs/cluster.md');
const [example] = page?.blocks.filter(({ code }) => code.startsWith('nats-server')) ?? [];
const lines = example?.code.trimEnd().split('\n') ?? [];

/** Returns the arguments of each documented `capstan serve`, without the port. */
function servedBy(replace: (text: string) => string): readonly (readonly string[])[] {
  return lines
    .filter((line) => line.startsWith('npx capstan serve '))
    .map((line) => replace(line.replace('npx capstan serve ', '').replace(/ --port \d+/, '')).split(' '));
}

describe.skipIf(whyNot !== undefined)(`the cluster on one machine of docs/cluster.md${reason}`, () => {
  const site = siteForSuite();

  it('captures with the five documented commands', async () => {
    const [nats = '', mongo = '', , , curl = ''] = lines;
    expect(lines).toHaveLength(5);
    expect(nats).toBe('nats-server --jetstream --store_dir nats');
    expect(mongo).toBe('mkdir -p mongo && mongod --dbpath mongo');

    const place = await ground();
    await using stack = new AsyncDisposableStack();
    const natsServer = await startNats();
    stack.defer(() => natsServer.remove());
    const mongoUrl = await sharedMongo();
    const here = (text: string) =>
      text.replace('nats://127.0.0.1:4222', natsServer.url).replace('mongodb://127.0.0.1:27017/', mongoUrl);

    const nodes: string[] = [];
    for (const flags of servedBy(here)) {
      const node = await serve([...flags, '--allow-targets', site.host], place.options);
      stack.defer(async () => {
        node.child.kill('SIGTERM');
        await node.ended;
      });
      nodes.push(node.url);
    }
    expect(nodes).toHaveLength(2);
    const [, body = ''] = /--json '(.+)' http:\/\/127\.0\.0\.1:8080\/screenshot$/.exec(curl) ?? [];
    const answer = await fetch(`${nodes[0]}/screenshot`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: body.replace('https://example.com', site.url('/short')),
    });
    const { data } = z.object({ data: z.object({ screenshot: z.string() }) }).parse(await answer.json());
    const image = await fetch(`${nodes[0]}${data.screenshot}`);
    expect(image.headers.get('content-type')).toBe('image/png');
  });
});
