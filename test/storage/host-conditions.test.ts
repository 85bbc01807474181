import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ResultConditions } from '../../src/capture/finding/result-conditions.ts';
import type { HostFacts } from '../../src/capture/result/host-facts.ts';
import { prefixesOfAddress, prefixesOfNetwork, readNetwork } from '../../src/capture/result/network.ts';
import type { Result } from '../../src/capture/result/result.ts';
import type { Database } from '../../src/storage/ports/database.ts';
import { NO_HOST_FACTS } from '../support/example-result.ts';
import { describeInEachDatabase } from './each-database.ts';
import { resultOf } from './result-of.ts';

const FIRST_ID = 300_000_000_000_000;

const SHA = 'ab'.repeat(32);

/** Names in as many domains as a result has of a certificate at most: of networks that serve many sites. */
const MANY_NAMES = Array.from({ length: 50 }, (_, at) => [`*.s${at}.site-${at}.example`, `site-${at}.example`]).flat();
/** A first alias with so many labels that each of its parents is a name. */
const LONG_ALIAS = `${Array.from({ length: 60 }, (_, at) => `l${at}`).join('.')}.long.example`;

const FACTS: readonly HostFacts[] = [
  {
    server: 'Apache/2.4.57 (Debian) OpenSSL/3.0.15',
    powered_by: 'PHP/8.2.1, ASP.NET',
    content_security_policy: true,
    hsts: true,
    certificate: {
      subject: 'shop.example',
      names: ['shop.example', '*.shop.example', 'bücher.example'],
      issuer: "R11 (Let's Encrypt)",
      valid_from: '2026-09-01T00:00:00.000Z',
      valid_to: '2026-11-30T10:00:00.000Z',
      sha256: SHA,
    },
    favicon: { hash: -247_388_890, sha256: 'cd'.repeat(32) },
    cnames: ['shop.cdn.example.net', 'edge-7.cdn.example.net'],
    technologies: [{ name: 'WordPress', version: '6.4.2', sign: 'meta' }],
  },
  { ...NO_HOST_FACTS, server: 'nginx', technologies: [{ name: 'nginx', version: '', sign: 'header' }] },
  {
    ...NO_HOST_FACTS,
    certificate: {
      subject: 'network.example',
      names: MANY_NAMES,
      issuer: 'R11',
      valid_from: '2026-09-01T00:00:00.000Z',
      valid_to: '2031-01-01T00:00:00.000Z',
      sha256: 'ef'.repeat(32),
    },
    cnames: [LONG_ALIAS, 'last.alias.example'],
  },
];

const RECORDS: readonly Result[] = [
  ...FACTS.map((host_facts, at) =>
    resultOf(FIRST_ID + at, { host_facts, remote_ip: ['10.1.2.3', '10.1.200.9', '2001:db8:1::7'][at] ?? null }),
  ),
  resultOf(FIRST_ID + 3, { host_facts: null, remote_ip: null }),
];

describeInEachDatabase((open) => {
  let database: Database;

  beforeEach(async () => {
    database = await open();
    for (const record of RECORDS) await database.results.insert(record);
  });

  afterEach(async () => {
    await database.results.delete(RECORDS.map(({ id }) => id));
    await database.close();
  });

  const found = async (where: ResultConditions) =>
    (await database.results.page({ by: 'all', where }, 100)).map(({ id }) => id - FIRST_ID).toSorted();

  describe('a list with conditions on what the host was', () => {
    it.each<[ResultConditions, readonly number[]]>([
      [{ server: 'apache' }, [0]],
      [{ server: 'Apache/2.4' }, [0]],
      [{ server: 'apache/2.4.57' }, [0]],
      [{ server: 'OpenSSL/3.0.15' }, [0]],
      [{ server: 'Apache/2.4.57 (Debian) OpenSSL/3.0.15' }, [0]],
      [{ server: 'Apache/2.5' }, []],
      [{ server: 'nginx' }, [1]],
      [{ poweredBy: 'php/8' }, [0]],
      [{ poweredBy: 'asp.net' }, [0]],
      [{ contentSecurityPolicy: 'true' }, [0]],
      [{ contentSecurityPolicy: 'false' }, [1, 2]],
      [{ hsts: 'true' }, [0]],
      [{ certificate: SHA.toUpperCase() }, [0]],
      [{ certificate: SHA.replace(/..(?!$)/g, '$&:') }, [0]],
      [{ certificate: 'shop.example' }, [0]],
      [{ certificate: 'www.shop.example' }, []],
      [{ certificate: 'BÜCHER.example' }, [0]],
      [{ certificate: 'xn--bcher-kva.example' }, [0]],
      [{ certificateIssuer: "let's encrypt" }, [0]],
      [{ certificateIssuer: 'encrypt r11' }, [0]],
      [{ certificateIssuer: 'encrypt other' }, []],
      [{ certificate: 'network.example' }, [2]],
      [{ certificate: 'site-0.example' }, [2]],
      [{ certificate: 's49.site-49.example' }, [2]],
      [{ certificate: 'site-49.example' }, [2]],
      [{ certificateExpiresBefore: '2026-12-01T00:00:00.000Z' }, [0]],
      [{ certificateExpiresBefore: '2027-01-01T00:00:00.000Z' }, [0]],
      [{ certificateExpiresBefore: '9999-12-31T00:00:00.000Z' }, [0, 2]],
      [{ certificateExpiresBefore: '2026-11-30T00:00:00.000Z' }, []],
      [{ certificateExpiresBefore: '0001-01-01T00:00:00.000Z' }, []],
      [{ favicon: '-247388890' }, [0]],
      [{ favicon: 'CD'.repeat(32) }, [0]],
      [{ cname: 'cdn.example.net' }, [0]],
      [{ cname: 'edge-7.cdn.example.net.' }, [0]],
      [{ cname: 'example' }, []],
      [{ cname: LONG_ALIAS }, [2]],
      [{ cname: 'last.alias.example' }, [2]],
      [{ technology: 'wordpress' }, [0]],
      [{ technology: 'WordPress/6.4' }, [0]],
      [{ technology: 'WordPress/6.4.2, nginx' }, []],
      [{ technology: 'nginx' }, [1]],
      [{ address: '10.1.2.3' }, [0]],
      [{ address: '10.1.0.0/16' }, [0, 1]],
      [{ address: '10.1.0.0/17' }, [0]],
      [{ address: '10.1.128.0/17' }, [1]],
      [{ address: '10.0.0.0/8' }, [0, 1]],
      [{ address: '::ffff:10.1.2.3' }, [0]],
      [{ address: '2001:db8::/32' }, [2]],
      [{ address: '2001:db8:1::/47' }, [2]],
      [{ address: '[2001:DB8:1::7]' }, [2]],
      [{ address: '2001:db8:2::/48' }, []],
      [{ address: '10.1.0.0/16', server: 'nginx' }, [1]],
      [{ address: '10.1.0.0/15', certificateExpiresBefore: '2027-01-01T00:00:00.000Z' }, [0]],
      [{ address: '10.1.0.0/15', status: '2xx', hsts: 'false' }, [1]],
    ])('finds by %j', async (where, ids) => {
      expect(await found(where)).toEqual(ids);
      expect(
        (await database.results.page({ by: 'host', host: 'example.com', where }, 100)).map(({ id }) => id - FIRST_ID),
      ).toEqual(ids.toReversed());
      expect(
        (await database.results.page({ by: 'url', url: 'https://example.com/', where }, 100)).map(
          ({ id }) => id - FIRST_ID,
        ),
      ).toEqual(ids.toReversed());
    });
  });
});

describe('the prefixes of a network', () => {
  it('contain exactly the addresses of the network', () => {
    const byte = fc.nat(255);
    fc.assert(
      fc.property(
        fc.tuple(byte, byte, byte, byte),
        fc.integer({ min: 8, max: 32 }),
        fc.nat(31),
        (bytes, length, flip) => {
          const number = Buffer.from(bytes).readUInt32BE();
          const other = (number ^ (1 << (31 - flip))) >>> 0;
          const text = (value: number) => [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join('.');
          const network = readNetwork(`${text(number)}/${length}`);
          const wanted = new Set(network === null ? [] : prefixesOfNetwork(network));
          const isIn = (value: number) => prefixesOfAddress(text(value)).some((prefix) => wanted.has(prefix));
          expect([wanted.size <= 8, isIn(number), isIn(other)]).toEqual([true, true, flip >= length]);
        },
      ),
    );
  });

  it.each(['10.1.0.0/7', '10.1.0.0/33', '10.1/16', '2001:db8::/15', '2001:db8::/65', 'a', '', '::1/', '1.2.3.4.5'])(
    'are none for %j, which is refused',
    (text) => {
      expect(readNetwork(text)).toBeNull();
    },
  );
});
