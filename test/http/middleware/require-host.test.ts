import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { serviceForSuite } from '../../support/for-suite.ts';
import { NO_BROWSER } from '../../support/service.ts';
import { dial } from '../dial.ts';

const app = serviceForSuite(NO_BROWSER);
const keyed = serviceForSuite(NO_BROWSER, { apiKeys: ['key'] });

async function asked(at: string, version: string, hosts: readonly string[]): Promise<string> {
  const socket = await dial(at);
  socket.end([`GET /livez HTTP/${version}`, ...hosts, 'Connection: close', '', ''].join('\r\n'));
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
