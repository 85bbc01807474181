import { randomBytes } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listening } from '../egress/listening.ts';
import { makeDirectory } from '../support/temporary-directory.ts';
import { serversForSuite, whyNoCluster } from './cluster-of-processes.ts';
import { startHeldPages } from './held-pages.ts';
import { nodesOf } from './nodes.ts';

const whyNot = await whyNoCluster();
const reason = whyNot === undefined ? '' : ` (skipped: ${whyNot})`;
/** Largest message in bytes: enough for a record, not for more. */
const MAX_PAYLOAD = 6_000;

describe.skipIf(whyNot !== undefined)(`a cluster with small messages${reason}`, () => {
  const servers = serversForSuite(async () => {
    const directory = await makeDirectory();
    await writeFile(join(directory, 'nats.conf'), `max_payload: ${MAX_PAYLOAD}\n`);
    return ['--config', join(directory, 'nats.conf')];
  });

  it('refuses requests that no message can carry, sends large evidence by the store, and keeps requests off the disk of NATS', async () => {
    await using nodes = await nodesOf(servers, 'messages');
    await using pages = await startHeldPages(0);
    const api = await nodes.api();
    const headers = { 'X-Large': randomBytes(MAX_PAYLOAD).toString('base64') };
    const refused = await api.post('/screenshot', { url: pages.url(), headers });
    expect({ status: refused.status, body: await refused.json() }).toMatchObject({
      status: 413,
      body: { code: 'payload_too_large', error: expect.stringContaining(`NATS server accepts ${MAX_PAYLOAD}`) },
    });

    // Random text cannot be compressed, and the text of one message is limited.
    const said = Array.from({ length: 5 }, () => randomBytes(MAX_PAYLOAD / 4).toString('base64'));
    const talk = said.map((text) => `console.log('${text}');`).join('');
    const page = await pageOf(`<title>Talks</title><script>${talk}</script>`);
    const secret = `sesame-${randomBytes(8).toString('hex')}`;
    const request = { url: page, headers: { Authorization: `Bearer ${secret}` }, evidence: ['console'] };
    const answer = api.post('/screenshot', request);
    await expect.poll(() => api.service.stats().queue.queued).toBe(1);
    // The ticket is on the disk of NATS, and what it stands for is not.
    await expect.poll(() => contentOf(servers.nats.directory)).toContain('messages.work.');
    expect(await contentOf(servers.nats.directory)).not.toContain(secret);
    await nodes.worker();
    const { data } = JSON.parse(await (await answer).text());
    expect(data.evidence.console.items.map(({ text }: { readonly text: string }) => text)).toEqual(said);
    const stored = await contentOf(servers.nats.directory);
    for (const kept of [secret, ...said]) expect(stored).not.toContain(kept);
  });
});

/** Returns the URL of a page, which is served until the test ends. */
async function pageOf(html: string): Promise<string> {
  const at = await listening(
    createServer((_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(html)),
  );
  onTestFinished(() => at[Symbol.asyncDispose]());
  return `http://127.0.0.1:${at.port}/`;
}

async function contentOf(directory: string): Promise<string> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  // NATS replaces files while it runs.
  const contents = await Promise.all(files.map((file) => readFile(file, 'latin1').catch(() => '')));
  return contents.join('\n');
}
