import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createAliasLookup } from '../../src/egress/aliases.ts';
import { startNameServer, type Zone } from '../support/name-server.ts';
import { makeDirectory } from '../support/temporary-directory.ts';

const WITHIN_MS = 60_000;

const CHAIN: Readonly<Record<string, string>> = {
  'shop.example': 'shop.cdn.example',
  'shop.cdn.example': 'edge.cdn.example',
  'round.example': 'again.example',
  'again.example': 'round.example',
};

const zone: Zone = (name) => {
  if (name === 'silent.example') return 'silence';
  if (name === 'none.example') return 'none';
  const endless = /^n(\d+)\.example$/.exec(name)?.[1];
  const cname = endless === undefined ? CHAIN[name] : `n${Number(endless) + 1}.example`;
  return cname === undefined ? ['192.0.2.1'] : { cname, addresses: ['192.0.2.1'] };
};

async function lookup() {
  const server = await startNameServer(zone);
  const hostsFile = join(await makeDirectory(), 'hosts');
  await writeFile(hostsFile, '192.0.2.9 listed.example\n');
  return { server, aliases: createAliasLookup({ servers: [server.address], hostsFile }) };
}

describe('the aliases of a name', () => {
  it('are the chain that its name server follows, which is asked once', async () => {
    const { server, aliases } = await lookup();
    await using _server = server;
    expect(await aliases('shop.example', WITHIN_MS)).toEqual(['shop.cdn.example', 'edge.cdn.example']);
    expect(await aliases('shop.example', WITHIN_MS)).toEqual(['shop.cdn.example', 'edge.cdn.example']);
    expect(server.asked).toEqual(['shop.example', 'shop.cdn.example', 'edge.cdn.example']);
  });

  it('end where a chain leads back, and after 8 names', async () => {
    const { server, aliases } = await lookup();
    await using _server = server;
    expect(await aliases('round.example', WITHIN_MS)).toEqual(['again.example']);
    expect(await aliases('n0.example', WITHIN_MS)).toHaveLength(8);
  });

  it.each(['plain.example', 'none.example', 'listed.example', 'localhost'])('are none for %s', async (name) => {
    const { server, aliases } = await lookup();
    await using _server = server;
    expect(await aliases(name, WITHIN_MS)).toEqual([]);
  });

  it('are none when the name server does not answer in time, and are asked for again then', async () => {
    const { server, aliases } = await lookup();
    await using _server = server;
    expect(await aliases('silent.example', 50)).toEqual([]);
    expect(await aliases('silent.example', 50)).toEqual([]);
    expect(server.asked.length).toBeGreaterThan(1);
  });
});
