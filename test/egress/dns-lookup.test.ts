import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { createDnsLookup } from '../../src/egress/dns-lookup.ts';
import { startNameServer, type Zone } from '../support/name-server.ts';
import { makeDirectory } from '../support/temporary-directory.ts';

const { signal } = new AbortController();
let directory: string;

beforeAll(async () => {
  directory = await makeDirectory();
});

async function fileWith(name: string, text: string): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, text);
  return path;
}

/** Creates a lookup with its own hosts file and resolv.conf, which asks one name server. */
async function lookupIn(zone: Zone, { hosts = '', resolv = '' } = {}) {
  const server = await startNameServer(zone);
  const hostsFile = await fileWith('hosts', hosts);
  const resolvConf = await fileWith('resolv.conf', resolv);
  const lookup = createDnsLookup({ servers: [server.address], hostsFile, resolvConf });
  return { server, lookup, hostsFile, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

const SITE: Zone = (name) => (name === 'site.test' ? ['192.0.2.1', '192.0.2.2', '2001:db8::1'] : 'none');

describe('createDnsLookup', () => {
  it('returns the addresses of both families, alternating', async () => {
    await using dns = await lookupIn(SITE);
    const addresses = await dns.lookup('site.test', signal);
    expect(addresses[0]).toBe('2001:db8::1');
    expect(addresses.toSorted()).toEqual(['192.0.2.1', '192.0.2.2', '2001:db8::1']);
  });

  it('rejects with ENOTFOUND for a name that does not exist', async () => {
    await using dns = await lookupIn(SITE);
    await expect(dns.lookup('nowhere.test', signal)).rejects.toMatchObject({ code: 'ENOTFOUND' });
  });

  it('resolves a name from the hosts file without a name server, and reads a changed file again', async () => {
    const hosts = '# a comment\n127.0.0.1 localhost\n10.0.0.7\tWiki.Test wiki # the wiki\n::1 wiki.test\nnonsense x\n';
    await using dns = await lookupIn(SITE, { hosts });
    expect(await dns.lookup('wiki.test', signal)).toEqual(['10.0.0.7', '::1']);
    expect(await dns.lookup('WIKI.', signal)).toEqual(['10.0.0.7']);
    await rename(await fileWith('hosts.new', '10.0.0.8 wiki.test\n'), dns.hostsFile);
    expect(await dns.lookup('wiki.test', signal)).toEqual(['10.0.0.8']);
    expect(dns.server.asked).toEqual([]);
  });

  it('completes short names from the search list of resolv.conf', async () => {
    const resolv = 'search one.example site.example.\noptions ndots:2 timeout:1\n';
    const zone: Zone = (name) => (name === 'api.dev.site.example' ? ['192.0.2.3'] : 'none');
    await using dns = await lookupIn(zone, { resolv });
    expect(await dns.lookup('api.dev', signal)).toEqual(['192.0.2.3']);
    expect([...new Set(dns.server.asked)]).toEqual(['api.dev.one.example', 'api.dev.site.example']);
  });

  it('looks up a name with a trailing dot without the search list', async () => {
    await using dns = await lookupIn(SITE, { resolv: 'search one.example' });
    await expect(dns.lookup('nowhere.test.', signal)).rejects.toMatchObject({ code: 'ENOTFOUND' });
    expect([...new Set(dns.server.asked)]).toEqual(['nowhere.test']);
  });

  it('asks the next name server when one refuses to answer', async () => {
    await using refusing = await startNameServer(() => 'refusal');
    await using dns = await lookupIn(SITE);
    const lookup = createDnsLookup({ servers: [refusing.address, dns.server.address] });
    expect(await lookup('site.test', signal)).toContain('192.0.2.1');
    expect(refusing.asked).toContain('site.test');
  });

  describe('for an alias', () => {
    const alias = { cname: 'target.test' };

    it.each(['A', 'AAAA'])(
      'waits for slow addresses when %s is answered at once with the alias alone',
      async (type) => {
        const address = type === 'A' ? '2001:db8::1' : '192.0.2.1';
        await using dns = await lookupIn((_, asked) => {
          if (asked === type) return { ...alias, addresses: [] };
          // Longer than the time for the other family, which begins with the first address.
          return { ...alias, addresses: [address], when: delay(800) };
        });
        expect(await dns.lookup('www.test', signal)).toEqual([address]);
      },
    );

    it('waits for slow IPv4 addresses when those for IPv6 come at once', async () => {
      await using dns = await lookupIn((_, type) =>
        type === 'A'
          ? { ...alias, addresses: ['192.0.2.1'], when: delay(800) }
          : { ...alias, addresses: ['2001:db8::1'] },
      );
      expect(await dns.lookup('www.test', signal)).toEqual(['2001:db8::1', '192.0.2.1']);
    });

    it('returns the addresses of one family when the other has only the alias', async () => {
      await using dns = await lookupIn((_, type) => ({ ...alias, addresses: type === 'A' ? ['192.0.2.1'] : [] }));
      expect(await dns.lookup('www.test', signal)).toEqual(['192.0.2.1']);
    });

    it('rejects with ENODATA when neither family has an address', async () => {
      await using dns = await lookupIn(() => ({ ...alias, addresses: [] }));
      await expect(dns.lookup('www.test', signal)).rejects.toMatchObject({ code: 'ENODATA' });
    });

    it('asks the search list when the alias leads to no address', async () => {
      const zone: Zone = (name) =>
        name === 'www.site.example' ? { ...alias, addresses: ['192.0.2.4'] } : { ...alias, addresses: [] };
      await using dns = await lookupIn(zone, { resolv: 'search one.example site.example' });
      expect(await dns.lookup('www', signal)).toEqual(['192.0.2.4']);
    });
  });

  it('rejects at once when its signal is aborted while a name server does not answer', async () => {
    const { promise: asked, resolve } = Promise.withResolvers<void>();
    await using dns = await lookupIn(() => {
      resolve();
      return 'silence';
    });
    const caller = new AbortController();
    const looked = dns.lookup('slow.test', caller.signal);
    await asked;
    caller.abort();
    await expect(looked).rejects.toMatchObject({ code: 'ECANCELLED' });
  });
});
