import { describe, expect, it } from 'vitest';
import { createTargetPolicy, parseTargetList } from '../../src/egress/address-policy.ts';

const open = createTargetPolicy({ allow: [], deny: [] });

describe('createTargetPolicy without lists', () => {
  it.each([
    ['8.8.8.8'],
    ['1.1.1.1'],
    ['172.15.255.255'],
    ['172.32.0.1'],
    ['100.63.255.255'],
    ['100.128.0.1'],
    ['198.17.255.255'],
    ['198.20.0.1'],
    ['223.255.255.255'],
    ['2606:4700:4700::1111'],
    ['2a00:1450:4001:82a::200e'],
    ['2003::1'],
    ['2410::1'],
    ['2630::1'],
    ['2c0f:f248::1'],
  ])('treats %s as public', (address) => {
    expect(open.refuseAddress(address, 'unlisted')).toBeNull();
  });

  it.each([
    ['0.0.0.0', 'unspecified'],
    ['0.1.2.3', 'unspecified'],
    ['10.1.2.3', 'private'],
    ['100.64.0.1', 'carrier-grade NAT'],
    ['100.100.100.200', 'carrier-grade NAT'],
    ['127.0.0.1', 'loopback'],
    ['127.255.255.254', 'loopback'],
    ['168.63.129.16', 'cloud metadata'],
    ['169.254.169.254', 'link-local'],
    ['172.16.0.1', 'private'],
    ['172.31.255.255', 'private'],
    ['192.0.0.192', 'reserved'],
    ['192.0.2.1', 'reserved'],
    ['192.88.99.1', 'reserved'],
    ['192.168.1.1', 'private'],
    ['198.18.0.1', 'reserved'],
    ['198.19.255.255', 'reserved'],
    ['198.51.100.1', 'reserved'],
    ['203.0.113.1', 'reserved'],
    ['224.0.0.1', 'multicast'],
    ['239.255.255.250', 'multicast'],
    ['240.0.0.1', 'reserved'],
    ['255.255.255.255', 'broadcast'],
    ['::', 'unspecified'],
    ['::1', 'loopback'],
    ['::7f00:1', 'IPv4-compatible'],
    ['::8.8.8.8', 'IPv4-compatible'],
    ['::ffff:127.0.0.1', 'IPv4-mapped'],
    ['::ffff:8.8.8.8', 'IPv4-mapped'],
    ['::ffff:0:127.0.0.1', 'IPv4-translated'],
    ['64:ff9b::127.0.0.1', 'NAT64'],
    ['64:ff9b::808:808', 'NAT64'],
    ['64:ff9b:1::7f00:1', 'NAT64'],
    ['100::1', 'discard'],
    ['2001::1', 'Teredo'],
    ['2001:db8::1', 'reserved'],
    ['100:0:0:1::1', 'reserved'],
    ['2001:1::1', 'reserved'],
    ['2001:1ff::1', 'reserved'],
    ['2001:2::1', 'benchmarking'],
    ['2001:3::1', 'multicast tunnelling'],
    ['2001:4:112::1', 'AS112'],
    ['2001:10::1', 'ORCHID'],
    ['2001:20::1', 'ORCHID'],
    ['2001:30::1', 'drone identity'],
    ['2620:4f:8000::1', 'AS112'],
    ['2d00::1', 'reserved'],
    ['2e00::1', 'reserved'],
    ['2fff::1', 'reserved'],
    ['3000::1', 'reserved'],
    ['3ffe::1', '6bone'],
    ['3ffe:ffff::1', '6bone'],
    ['2001:4860::5efe:7f00:1', 'ISATAP'],
    ['2a00:1450::5efe:10.0.0.1', 'ISATAP'],
    ['2a00:1450::200:5efe:8.8.8.8', 'ISATAP'],
    ['2a00:1450::300:5efe:a00:1', 'ISATAP'],
    ['2002:7f00:1::', '6to4'],
    ['2002:808:808::1', '6to4'],
    ['3fff::1', 'reserved'],
    ['4000::1', 'reserved'],
    ['5f00::1', 'segment routing'],
    ['fc00::1', 'unique local'],
    ['fd00:ec2::254', 'unique local'],
    ['fe80::1', 'link-local'],
    ['fe80::1%eth0', 'link-local'],
    ['fec0::1', 'site-local'],
    ['ff02::1', 'multicast'],
  ])('refuses %s as not public (%s)', (address, classOfAddress) => {
    expect(open.refuseAddress(address, 'unlisted')?.reason).toContain(classOfAddress);
  });

  it('refuses text that is not an address', () => {
    expect(open.refuseAddress('127.1', 'unlisted')?.reason).toBe('not an address');
    expect(open.refuseAddress('', 'unlisted')?.reason).toBe('not an address');
  });
});

describe('createTargetPolicy with allowed targets', () => {
  it('allows an address, a network, and the IPv4-mapped spelling of an allowed address', () => {
    const policy = createTargetPolicy({ allow: ['10.0.0.0/8', '127.0.0.1', 'fd00::/8'], deny: [] });
    for (const address of ['10.1.2.3', '127.0.0.1', '::ffff:10.1.2.3', 'fd12::1']) {
      expect(policy.refuseAddress(address, 'unlisted')).toBeNull();
    }
    for (const address of ['127.0.0.2', '192.168.0.1', '::10.1.2.3', '64:ff9b::10.1.2.3', '2002:a01:203::']) {
      expect(policy.refuseAddress(address, 'unlisted')).not.toBeNull();
    }
  });

  it('allows a name with every address that it resolves to, but no other name', () => {
    const policy = createTargetPolicy({ allow: ['Wiki.Example.internal'], deny: [] });
    expect(policy.judgeName('wiki.example.internal')).toBe('open');
    expect(policy.judgeName('WIKI.example.internal.')).toBe('open');
    expect(policy.judgeName('a.wiki.example.internal')).toBe('unlisted');
    expect(policy.judgeName('evilwiki.example.internal')).toBe('unlisted');
    expect(policy.refuseAddress('169.254.169.254', 'open')).toBeNull();
  });

  it.each(['*.example.internal', '.example.internal'])(
    'allows every name below one with %s, but not the name itself',
    (entry) => {
      const policy = createTargetPolicy({ allow: [entry], deny: [] });
      expect(policy.judgeName('a.example.internal')).toBe('open');
      expect(policy.judgeName('b.a.example.internal')).toBe('open');
      expect(policy.judgeName('example.internal')).toBe('unlisted');
      expect(policy.judgeName('notexample.internal')).toBe('unlisted');
    },
  );

  it('treats an internationalised name and its punycode as equal', () => {
    const policy = createTargetPolicy({ allow: ['*.bücher.example'], deny: ['xn--bcher-kva.example'] });
    expect(policy.judgeName(new URL('http://a.BÜCHER.example').hostname)).toBe('open');
    expect(policy.judgeName(new URL('http://bücher.example').hostname)).toBe('closed');
  });
});

describe('createTargetPolicy with denied targets', () => {
  it('refuses denied public targets', () => {
    const policy = createTargetPolicy({ allow: [], deny: ['8.8.8.0/24', '*.ads.example'] });
    expect(policy.refuseAddress('8.8.8.8', 'unlisted')?.reason).toContain('closed by the operator');
    expect(policy.refuseAddress('8.8.4.4', 'unlisted')).toBeNull();
    expect(policy.judgeName('x.ads.example')).toBe('closed');
  });

  it('refuses denied targets that are also allowed, behind an allowed name and inside an IPv6 address', () => {
    const policy = createTargetPolicy({
      allow: ['10.0.0.0/8', 'wiki.internal', '::/0'],
      deny: ['10.0.0.1', 'secret.internal', '169.254.169.254'],
    });
    expect(policy.refuseAddress('10.0.0.1', 'unlisted')).not.toBeNull();
    expect(policy.refuseAddress('10.0.0.1', 'open')).not.toBeNull();
    expect(policy.refuseAddress('10.0.0.2', 'unlisted')).toBeNull();
    for (const carrier of ['::ffff:10.0.0.1', '::10.0.0.1', '64:ff9b::10.0.0.1', '2002:a00:1::', '::ffff:0:10.0.0.1']) {
      expect(policy.refuseAddress(carrier, 'open'), carrier).not.toBeNull();
    }
    expect(policy.refuseAddress('2001:0:1234:5678:0:0:5601:5601', 'open')).not.toBeNull();
    expect(policy.refuseAddress('64:ff9b::10.0.0.2', 'unlisted')).toBeNull();
  });
});

describe('parseTargetList', () => {
  it('accepts commas and white space between entries, and returns canonical entries', () => {
    expect(parseTargetList('10.0.0.0/8, Example.Internal.\n.a.example *.b.example,[fd00::1],[fd00::]/8')).toEqual([
      '10.0.0.0/8',
      'example.internal',
      '*.a.example',
      '*.b.example',
      'fd00::1',
      'fd00::/8',
    ]);
    expect(parseTargetList(['localhost', 'bücher.example,127.0.0.1'])).toEqual([
      'localhost',
      'xn--bcher-kva.example',
      '127.0.0.1',
    ]);
    expect(parseTargetList('')).toEqual([]);
    const list = parseTargetList('::ffff:10.0.0.1, *.x.example, 10.0.0.0/8');
    expect(parseTargetList(list)).toEqual(list);
  });

  it.each([
    ['10.0.0.0/33', 'that is not a network'],
    ['10.0/8', 'that is not a network'],
    ['example.com/8', 'that is not a network'],
    ['http://example.com/', 'leave the scheme and the path out'],
    ['example.com:8080', 'leave the port out'],
    ['10.0.0.1:8080', 'leave the port out'],
    ['[::1]:8080', 'leave the port out'],
    ['*', '0.0.0.0/0 and ::/0'],
    ['127.1', 'Give an address'],
    ['0x7f.0.0.1', 'Give an address'],
    ['010.0.0.1', 'Give an address'],
    ['10.0.0.256', 'Give an address'],
    ['a*.example.com', 'Give an address'],
    ['a..example', 'Give an address'],
    ['user@example.com', 'Give an address'],
    ['fd00::1::2', 'Give an address'],
    ['*.', 'Give an address'],
  ])('rejects %s with an error that names the entry and the accepted forms', (entry, hint) => {
    expect(() => parseTargetList(['10.0.0.0/8', entry])).toThrow(`"${entry}" is not a target`);
    expect(() => parseTargetList(entry)).toThrow(hint);
    expect(() => createTargetPolicy({ allow: [entry], deny: [] })).toThrow(/Give an address \(10\.1\.2\.3/);
  });
});

describe('createTargetPolicy with addresses of this machine', () => {
  const isOwn = (address: string) => address === '93.184.215.14' || address === '2a00:1450::1';

  it('refuses own addresses although they are public', () => {
    const policy = createTargetPolicy({ allow: [], deny: [], isOwn });
    expect(policy.refuseAddress('93.184.215.14', 'unlisted')?.reason).toBe("not public (this machine's own)");
    expect(policy.refuseAddress('2a00:1450::1', 'unlisted')?.reason).toBe("not public (this machine's own)");
    expect(policy.refuseAddress('93.184.215.15', 'unlisted')).toBeNull();
  });

  it('allows own addresses when they or the name that led to them are allowed', () => {
    const policy = createTargetPolicy({ allow: ['93.184.215.14'], deny: [], isOwn });
    expect(policy.refuseAddress('93.184.215.14', 'unlisted')).toBeNull();
    expect(policy.refuseAddress('2a00:1450::1', 'open')).toBeNull();
  });

  it('allows own addresses in an allowed network unless they are denied', () => {
    const allow = ['93.184.215.0/24'];
    const opened = createTargetPolicy({ allow, deny: [], isOwn });
    expect(opened.refuseAddress('93.184.215.14', 'unlisted')).toBeNull();
    const denied = createTargetPolicy({ allow, deny: ['93.184.215.14'], isOwn });
    expect(denied.refuseAddress('93.184.215.14', 'unlisted')?.reason).toBe('closed by the operator of this service');
    expect(denied.refuseAddress('93.184.215.15', 'unlisted')).toBeNull();
  });
});

describe('createTargetPolicy with entries in IPv4-mapped spelling', () => {
  it.each(['::ffff:8.8.8.8', '[::ffff:808:808]', '::ffff:8.8.8.0/120', '[::ffff:8.8.0.0]/112', '::FFFF:8.8.8.8/128'])(
    'refuses the IPv4 address, and its mapped spelling, for the denied %s',
    (entry) => {
      const policy = createTargetPolicy({ allow: [], deny: [entry] });
      for (const address of ['8.8.8.8', '::ffff:8.8.8.8', '64:ff9b::808:808', '2002:808:808::']) {
        expect(policy.refuseAddress(address, 'open')?.by).toBe('denied');
      }
      expect(policy.refuseAddress('8.9.0.1', 'unlisted')).toBeNull();
    },
  );

  it.each(['::ffff:10.0.0.1', '::ffff:10.0.0.0/104'])('allows the IPv4 address for the allowed %s', (entry) => {
    const policy = createTargetPolicy({ allow: [entry], deny: [] });
    expect(policy.refuseAddress('10.0.0.1', 'unlisted')).toBeNull();
    expect(policy.refuseAddress('::ffff:10.0.0.1', 'unlisted')).toBeNull();
    expect(policy.refuseAddress('11.0.0.1', 'unlisted')).toBeNull();
    expect(policy.refuseAddress('192.168.0.1', 'unlisted')).not.toBeNull();
  });

  it('leaves wider IPv6 networks as they are', () => {
    const policy = createTargetPolicy({ allow: [], deny: ['::/0', '::ffff:0:0/95'] });
    expect(policy.refuseAddress('8.8.8.8', 'unlisted')).toBeNull();
  });
});

describe('createTargetPolicy with a denied IPv4 address', () => {
  it.each(['2002:a00:1::', '64:ff9b::a00:1', '2a00:1450::5efe:a00:1', '::ffff:10.0.0.1'])(
    'refuses %s, which carries the denied address, behind an allowed name',
    (address) => {
      const policy = createTargetPolicy({ allow: [], deny: ['10.0.0.1'] });
      expect(policy.refuseAddress(address, 'open')?.reason).toBe('closed by the operator of this service');
    },
  );
});
