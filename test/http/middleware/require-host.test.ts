import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { signedTarget } from '../../../src/capture/finding/signed-link.ts';
import { serviceForSuite } from '../../support/for-suite.ts';
import { NO_BROWSER } from '../../support/service.ts';
import { dial } from '../dial.ts';

const SIGNING_KEY = 'a-signing-key-of-at-least-32-characters';
const app = serviceForSuite(NO_BROWSER);
const keyed = serviceForSuite(NO_BROWSER, { apiKey: ['key'], signingKey: [SIGNING_KEY] });

async function asked(at: string, version: string, headers: readonly string[], target = '/livez', body = '') {
  const socket = await dial(at);
  const length = body === '' ? [] : ['Content-Type: application/json', `Content-Length: ${body.length}`];
  const line = `${body === '' ? 'GET' : 'POST'} ${target} HTTP/${version}`;
  socket.write([line, ...headers, ...length, 'Connection: close', '', body].join('\r\n'));
  return text(socket);
}

it.each([
  [[]],
  [['Host: localhost', 'Host: localhost']],
  [['Host: localhost', 'Host: evil.example']],
  [['Host:']],
  [['Host:  ']],
  [['Host: local host']],
  [['Host: localhost, localhost']],
  [['Host: localhost/path']],
  [['Host: user@localhost']],
  [['Host: localhost:http']],
  [['Host: [::1']],
  [['Host: ::1']],
  [['Host: evil.example@localhost']],
  [['Host: localhost#.evil.example']],
])('refuses an HTTP/1.1 request with the Host lines %j', async (hosts) => {
  for (const { baseUrl } of [app, keyed]) {
    const answer = await asked(baseUrl, '1.1', hosts);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toMatch(/"code":"invalid_request"/);
  }
});

it.each([
  'LOCALHOST',
  'localhost:',
  'localhost:8080',
  '127.0.0.1',
  '[::1]:8080',
  'under_score.example.',
  'b%C3%BCcher.example',
])('answers an HTTP/1.1 request with Host: %s', async (host) => {
  expect(await asked(keyed.baseUrl, '1.1', [`Host: ${host}`])).toMatch(/^HTTP\/1\.1 200 /);
});

it('answers an HTTP/1.0 request without Host, and refuses two', async () => {
  expect(await asked(keyed.baseUrl, '1.0', [])).toMatch(/^HTTP\/1\.[01] 200 /);
  expect(await asked(keyed.baseUrl, '1.0', ['Host: a', 'Host: b'])).toMatch(/^HTTP\/1\.[01] 400 /);
});

describe('a request in the absolute form', () => {
  it.each(['http://localhost/livez', 'HTTP://[::1]:8080/livez?', 'https://127.0.0.1/livez#part'])(
    'is for its own host, whatever Host says: %s',
    async (target) => {
      expect(await asked(app.baseUrl, '1.1', ['Host: evil.example'], target)).toMatch(/^HTTP\/1\.1 200 /);
      expect(await asked(app.baseUrl, '1.0', [], target)).toMatch(/^HTTP\/1\.[01] 200 /);
    },
  );

  it('is refused for a host that is not allowed, although Host is', async () => {
    const answer = await asked(app.baseUrl, '1.1', ['Host: localhost'], 'http://evil.example/livez');
    expect(answer).toMatch(/^HTTP\/1\.1 421 .*evil\.example.*"code":"host_not_allowed"/s);
  });

  it.each([
    ['http:///livez', ['Host: localhost']],
    ['http://user@localhost/livez', ['Host: localhost']],
    ['http://localhost:http/livez', ['Host: localhost']],
    ['http://localhost/livez', []],
    ['http://localhost/livez', ['Host: a/b']],
    ['http://localhost/livez', ['Host: localhost', 'Host: localhost']],
  ])('is refused when a host is invalid: %s with %j', async (target, hosts) => {
    for (const { baseUrl } of [app, keyed]) {
      expect(await asked(baseUrl, '1.1', hosts, target)).toMatch(/^HTTP\/1\.1 400 .*"code":"invalid_request"/s);
    }
  });

  it('takes signed links, and its answers link to its host', async () => {
    const signed = signedTarget('/screenshot?url=http%3A%2F%2Flocalhost%3A1%2F', 4_000_000_000, SIGNING_KEY);
    const linked = await asked(keyed.baseUrl, '1.1', ['Host: other.example'], `http://localhost${signed}`);
    // The signature was accepted.
    expect(linked).toContain('"code":"target_forbidden"');
    const headers = ['Host: other.example', 'X-API-Key: key'];
    const made = await asked(keyed.baseUrl, '1.1', headers, 'http://gallery.example/feeds', '{"label":"lamps"}');
    expect(made).toMatch(/^HTTP\/1\.1 200 .*"http:\/\/gallery\.example\/feeds\//s);
  });
});
