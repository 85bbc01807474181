import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ensureProtocol, readTarget } from '../../src/capture/target.ts';

describe('readTarget', () => {
  it.each([
    ['example.com', 'https://example.com'],
    ['example.com/a?b=c#d', 'https://example.com/a?b=c#d'],
    ['example.com:8080', 'https://example.com:8080'],
    ['example.com:8080/x', 'https://example.com:8080/x'],
    ['localhost', 'https://localhost'],
    ['localhost:3000/x', 'https://localhost:3000/x'],
    ['host:80?x', 'https://host:80?x'],
    ['192.0.2.1:81', 'https://192.0.2.1:81'],
    ['[::1]:8080/', 'https://[::1]:8080/'],
    ['//example.com/x', 'https://example.com/x'],
    ['example.com/go?to=https://other.example/', 'https://example.com/go?to=https://other.example/'],
    ['bücher.example', 'https://bücher.example'],
  ])('adds a scheme to %s: %s', (text, url) => {
    expect(readTarget(text)).toMatchObject({ ok: true, target: { url, schemeAssumed: true } });
  });

  it.each([
    'http://example.com',
    'HTTPS://Example.COM/Path',
    'https://user:secret@example.com:8443/?q=1#f',
    'ftp://example.com/x',
    'javascript:alert(1)',
    'javascript:1',
    'JavaScript:alert(1)',
    'data:text/html,<b>x</b>',
    'file:///etc/passwd',
    'view-source:https://example.com/',
    'about:blank',
    'mailto:a@example.com',
    'custom-scheme:whatever',
  ])('keeps %s, which has a scheme', (text) => {
    expect(ensureProtocol(text)).toBe(text);
    expect(readTarget(text)).toMatchObject({ ok: true, target: { url: text, schemeAssumed: false } });
  });

  it.each([
    'http://',
    'https://',
    'https:///path',
    '/path',
    '///',
    '?q',
    'https://a b/',
    'foo bar',
    'https://example.com:99999/',
    'example.com:port',
    'https://[::1/',
    'https://exa\nmple.com/',
    'https://example.com/\u0000',
    'https://example.com/caf\ud800',
    'https://example.com/caf\ufffd',
  ])('refuses %j', (text) => {
    expect(readTarget(text)).toMatchObject({ ok: false });
  });

  it.each([
    ['http://127.0.0.1:99999/', '99999'],
    ['127.0.0.1:65536', '65536'],
    ['https://me:secret@example.com:port/path', 'port'],
    ['https://[::1]:-1', '-1'],
    ['https://[::1]:99999?q', '99999'],
    ['https://example.com:8080:1/', '8080:1'],
  ])('names the port of %j as invalid', (text, port) => {
    expect(readTarget(text)).toEqual({
      ok: false,
      problem: `has the port ${port}: a port is a number from 0 to 65535`,
    });
  });

  it.each(['', ' ', '\t\n'])('refuses the blank text %j', (text) => {
    expect(readTarget(text)).toEqual({ ok: false, problem: expect.stringContaining('must not be blank') });
  });

  it('trims white space', () => {
    expect(readTarget('  example.com\n')).toMatchObject({ ok: true, target: { url: 'https://example.com' } });
  });

  const pieces = [
    'http',
    'https',
    'javascript',
    'localhost',
    ':',
    '//',
    '/',
    '.',
    '1',
    'a',
    '?',
    '#',
    '@',
    '[',
    ']',
    ' ',
    'é',
  ];
  const written = fc.array(fc.constantFrom(...pieces), { maxLength: 8 }).map((parts) => parts.join(''));

  it('returns only URLs that a URL parser accepts, and reads its own output unchanged', () => {
    fc.assert(
      fc.property(fc.oneof(written, fc.string()), (text) => {
        const reading = readTarget(text);
        if (!reading.ok) return;
        const { url } = reading.target;
        expect(URL.canParse(url)).toBe(true);
        expect(readTarget(url)).toMatchObject({ ok: true, target: { url, schemeAssumed: false } });
      }),
    );
  });
});
