import { describe, expect, it } from 'vitest';
import { listed } from './lists.ts';

describe('a list of lines', () => {
  it('gives URLs as they are, and hosts with the scheme to try first', async () => {
    const { urls } = await listed('http://a.example/x?y#z\nb.example\nc.example:8443\nd.example:80\ne.example:443/p\n');
    expect(urls).toEqual([
      'http://a.example/x?y#z',
      'https://b.example/?',
      'https://c.example:8443/?',
      'http://d.example/',
      'https://e.example/p',
    ]);
  });

  it('skips comments, blank lines, a byte order mark and any line ending', async () => {
    const { urls, report } = await listed(
      '\ufeffa.example\r\n\r\n# all of it\r  b.example  # the shop\nhttp://c.example/#d',
    );
    expect(urls).toEqual(['https://a.example/?', 'https://b.example/?', 'http://c.example/#d']);
    expect(report).toEqual({ form: 'lines', targets: 3, left_out: {}, problems: [] });
  });

  it('gives each target once, also one that a network has', async () => {
    const { urls, report } = await listed(
      '192.0.2.1\nhttp://a.example\n192.0.2.0/30\nhttp://A.example/\n192.0.2.1:443',
    );
    expect(urls).toEqual([
      'https://192.0.2.1/?',
      'http://a.example/',
      'https://192.0.2.0/?',
      'https://192.0.2.2/?',
      'https://192.0.2.3/?',
      'https://192.0.2.1/',
    ]);
    expect(report).toEqual({ form: 'lines', targets: 6, left_out: { duplicate: 2 }, problems: [] });
  });

  it('reads UTF-16, as PowerShell writes it', async () => {
    const { urls } = await listed(Buffer.from('\ufeffa.example\r\nb.example\r\n', 'utf16le'));
    expect(urls).toEqual(['https://a.example/?', 'https://b.example/?']);
  });

  it.each([
    ['192.0.2.7', ['192.0.2.7']],
    ['192.0.2.9/30', ['192.0.2.8', '192.0.2.9', '192.0.2.10', '192.0.2.11']],
    ['192.0.2.8/31', ['192.0.2.8', '192.0.2.9']],
    ['192.0.2.8/32', ['192.0.2.8']],
    ['192.0.2.254-192.0.3.1', ['192.0.2.254', '192.0.2.255', '192.0.3.0', '192.0.3.1']],
    ['192.0.2.7-9', ['192.0.2.7', '192.0.2.8', '192.0.2.9']],
    ['2001:db8::8', ['[2001:db8::8]']],
    ['[2001:db8::8]', ['[2001:db8::8]']],
    ['2001:db8::8/127', ['[2001:db8::8]', '[2001:db8::9]']],
    ['2001:db8::8/128', ['[2001:db8::8]']],
    ['2001:db8::ffff-2001:db8::1:0', ['[2001:db8::ffff]', '[2001:db8::1:0]']],
  ])('expands %s', async (line, hosts) => {
    expect((await listed(line)).urls).toEqual(hosts.map((host) => `https://${host}/?`));
  });

  it('gives a host that names a port no other ports', async () => {
    const { urls } = await listed('a.example\n[2001:db8::1]:8080\nhttp://b.example/', { ports: [80, 8000] });
    expect(urls).toEqual([
      'http://a.example/',
      'https://a.example:8000/?',
      'https://[2001:db8::1]:8080/?',
      'http://b.example/',
    ]);
  });

  it('tries each scheme that is asked for', async () => {
    const { urls, report } = await listed('192.0.2.0/31', { schemes: ['https', 'http'], ports: [443] });
    expect(urls).toEqual([
      'https://192.0.2.0:443/',
      'http://192.0.2.0:443/',
      'https://192.0.2.1:443/',
      'http://192.0.2.1:443/',
    ]);
    expect(report.targets).toBe(4);
  });

  it('names each bad line with its number, and gives all others', async () => {
    const lines = ['a.example', 'two hosts', '192.0.2.0/33', 'ftp://x.example/', 'x:70000', '192.0.2.9-3', 'b.example'];
    const { urls, report } = await listed(lines.join('\n'));
    expect(urls).toEqual(['https://a.example/?', 'https://b.example/?']);
    expect(report.left_out).toEqual({ invalid: 5 });
    expect(report.problems).toEqual([
      { line: 2, text: 'two hosts', problem: 'has blanks: give one target on each line' },
      { line: 3, text: '192.0.2.0/33', problem: 'has the prefix length 33: it is a number from 0 to 32' },
      { line: 4, text: 'ftp://x.example/', problem: 'has the scheme ftp: targets are http or https' },
      { line: 5, text: 'x:70000', problem: 'has the port 70000: a port is a number from 0 to 65535' },
      { line: 6, text: '192.0.2.9-3', problem: 'ends before it begins' },
    ]);
  });

  it('counts a network before it is expanded, and leaves it out when it has too many targets', async () => {
    const { urls, report } = await listed('10.0.0.0/8\n::/0\n192.0.2.1');
    expect(urls).toEqual(['https://192.0.2.1/?']);
    expect(report.left_out).toEqual({ too_large: 2 });
    expect(report.problems[0]?.problem).toBe('has 16,777,216 targets: at most 1,000 are accepted');
  });

  it('names at most 100 problems, and counts all', async () => {
    const { report } = await listed('a b\n'.repeat(150));
    expect([report.left_out.invalid, report.problems.length]).toEqual([150, 100]);
  });
});
