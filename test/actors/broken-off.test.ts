import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { CaptureOptions } from '../../src/capture/request.ts';
import { listening } from '../egress/listening.ts';
import { failureOf, patience } from '../support/actor.ts';
import { captureRequest } from '../support/capture-request.ts';
import { actorForSuite, forSuite } from '../support/for-suite.ts';
import { type Colour, colourAt, pngOf } from '../support/image.ts';

const GREEN: Colour = [0, 160, 0, 255];
const PAGE = '<!doctype html><title>Half</title><body style="margin:0;background:#00a000"><p>The beginning';
const CHUNK = `${PAGE.length.toString(16)}\r\n${PAGE}\r\n`;
const LENGTH = `Content-Length: ${10 * PAGE.length}\r\n\r\n`;
/** The beginning of each answer, after which its connection is closed. */
const ANSWERS: Readonly<Record<string, string>> = {
  '/length': `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n${LENGTH}${PAGE}`,
  '/chunks': `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n${CHUNK}`,
  '/invalid': `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n${CHUNK}zz\r\nmore`,
  '/missing': `HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\n${LENGTH}${PAGE}`,
  '/undecodable': `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\nContent-Length: ${PAGE.length}\r\n\r\n${PAGE}`,
  '/json': `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n${LENGTH}[${'1,'.repeat(20)}`,
  '/head': `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n${LENGTH}<!doctype html><title>Head</title><script>let a = 1;`,
  '/xhtml': `HTTP/1.1 200 OK\r\nContent-Type: application/xhtml+xml\r\n${LENGTH}<html xmlns="http://www.w3.org/1999/xhtml" style="background: #00a000"><head><title>Half</title>`,
  '/parts': `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<title>Parts</title><script src=/short.js></script><img src=/short.png>`,
  '/short.js': `HTTP/1.1 200 OK\r\nContent-Type: text/javascript\r\n${LENGTH}let a`,
  '/short.png': 'HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n',
  '/impossible': 'HTTP/1.1 302 Found\r\nLocation: http://exa%20mple/\r\nContent-Length: 0\r\n\r\n',
  '/script': `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>Here</p><script>onload = () => setTimeout(() => (location = "http://exa.invalid/"), 50)</script>`,
  '/blocked': `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<meta http-equiv="refresh" content="0;url=http://[::1/">`,
  '/at-once': `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n${LENGTH}${PAGE}`,
};
/** Long enough for the browser to read the beginning before the end comes. */
const BEFORE_END_MS = 300;

const running = actorForSuite();
const server = forSuite(
  () =>
    listening(
      createServer((socket) => {
        socket.once('data', async (head) => {
          const path = head.toString().split(' ')[1] ?? '';
          socket.write(ANSWERS[path] ?? 'HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n');
          if (path !== '/at-once') await delay(BEFORE_END_MS);
          socket.end();
        });
      }),
    ),
  async (one) => one[Symbol.asyncDispose](),
);

const capture = (path: string, options: CaptureOptions = {}) =>
  running.actor.capture(captureRequest(`http://127.0.0.1:${server.port}${path}`, options), patience);

describe('a document that breaks off', () => {
  it.each([
    ['/length', {}],
    ['/chunks', {}],
    ['/length', { waitUntil: 'load' }],
    ['/invalid', {}],
    ['/chunks', { waitUntil: 'domcontentloaded' }],
    ['/length', { waitUntil: 'networkidle' }],
    ['/chunks', { fullPage: true }],
    ['/length', { actions: [{ type: 'wait', ms: 1 }] }],
  ] satisfies [string, CaptureOptions][])(
    'is partial, and unfinished, and shows what came: %s with %o',
    async (path, options) => {
      const snapshot = await capture(path, options);
      expect(snapshot).toMatchObject({ cutPhase: 'load', title: 'Half', responseCode: 200 });
      expect(snapshot.verdict).toMatchObject({ name: 'unfinished', reasons: ['broken_off'] });
      expect(snapshot.html).toContain('The beginning');
      expect(colourAt(await pngOf(snapshot), 600, 400)).toEqual(GREEN);
    },
  );

  it('is partial when it is XHTML that ends in its head: the browser draws XHTML that has no body', async () => {
    expect(await capture('/xhtml')).toMatchObject({ cutPhase: 'load', title: 'Half' });
  });

  it('stays an error when its status says so', async () => {
    expect(await capture('/missing')).toMatchObject({ cutPhase: 'load', verdict: { name: 'error' } });
  });

  it('is partial or unreachable when the end comes with the beginning, which the browser may drop', async () => {
    const capturing = capture('/at-once', { waitUntil: 'load' }).then(
      ({ cutPhase }) => cutPhase,
      ({ code }) => code,
    );
    expect(['load', 'target_unreachable']).toContain(await capturing);
  });

  it.each([{}, { waitUntil: 'load' }, { fullPage: true }] satisfies CaptureOptions[])(
    'is unreachable at once when it ends in its head, with %o',
    async (options) => {
      expect(await failureOf(capture('/head', options))).toMatchObject({ code: 'target_unreachable' });
    },
  );

  it.each([{}, { waitUntil: 'load' }] satisfies CaptureOptions[])(
    'is unreachable at once when its body cannot be decoded, with %o',
    async (options) => {
      const { code, message } = await failureOf(capture('/undecodable', options));
      expect([code, message]).toEqual(['target_unreachable', expect.stringContaining('cannot be decoded')]);
    },
  );

  it('leaves the page whole when a part of it breaks off, which the evidence says', async () => {
    const { cutPhase, evidence } = await capture('/parts', { evidence: ['network'] });
    expect(cutPhase).toBeNull();
    const failures = evidence.network?.items.map(({ url, failure }) => [new URL(url).pathname, failure]);
    expect(failures).toEqual(
      expect.arrayContaining([
        ['/short.js', 'ERR_CONTENT_LENGTH_MISMATCH'],
        ['/short.png', 'ERR_INCOMPLETE_CHUNKED_ENCODING'],
      ]),
    );
  });

  it('is unreachable at once when it is JSON: the browser draws only whole JSON', async () => {
    expect(await failureOf(capture('/json'))).toMatchObject({ code: 'target_unreachable' });
  });
});

it.each([
  ['/impossible', 'http://exa%20mple/ is not a valid URL'],
  ['/script', expect.any(String)],
  ['/blocked', expect.any(String)],
])('does not store the page that the browser shows in place of a URL that it cannot open: %s', async (path, message) =>
  expect(await failureOf(capture(path))).toMatchObject({ code: 'target_unreachable', message }),
);
