import { X509Certificate } from 'node:crypto';
import { createServer } from 'node:https';
import { describe, expect, it } from 'vitest';
import type { CaptureOptions } from '../../src/capture/request.ts';
import { EVIDENCE_KINDS, type EvidenceKind } from '../../src/capture/result/evidence.ts';
import type { Snapshot } from '../../src/capture/result/snapshot.ts';
import { listening } from '../egress/listening.ts';
import { ICON, ICON_SHA256 } from '../fixtures/evidence-routes.ts';
import { CERTIFICATE, KEY } from '../receivers/certificate.ts';
import { captureRequest, htmlRequest } from '../support/capture-request.ts';
import { IN_FEW_PIXELS, siteAndActor } from '../support/site-and-actor.ts';

const ground = siteAndActor(IN_FEW_PIXELS);

function capture(path: string, evidence: readonly EvidenceKind[], options: CaptureOptions = {}): Promise<Snapshot> {
  return ground.capture(path, { evidence, ...options });
}

describe.concurrent('the evidence of a capture', () => {
  // Alone, since it asks for the icon whose requests another test counts.
  it('contains all kinds when all are requested, even for a page without any', { concurrent: false }, async () => {
    const { evidence } = await capture('/blank', EVIDENCE_KINDS);
    expect(evidence).toEqual({
      dialogs: { items: [], omitted: 0 },
      popups: { items: [], omitted: 0 },
      cookies: { items: [], omitted: 0 },
      redirects: { items: [], omitted: 0 },
      headers: { items: expect.arrayContaining([{ name: 'content-length', value: '0' }]), omitted: 0 },
      tls: null,
      console: { items: [], omitted: 0 },
      network: { items: [expect.objectContaining({ url: ground.site.url('/blank'), status: 200 })], omitted: 0 },
      favicon: null,
      libraries: { items: [], omitted: 0 },
    });
  });

  it('contains only the kinds that cost nothing when no evidence is requested', async () => {
    const { evidence } = await capture('/dialog', []);
    expect(evidence).toEqual({
      dialogs: {
        items: [
          { type: 'alert', message: 'An alert' },
          { type: 'confirm', message: 'Are you sure?' },
        ],
        omitted: 0,
      },
      popups: { items: [], omitted: 0 },
      cookies: { items: [], omitted: 0 },
    });
  });

  it('lists the popups that the page tried to open', async () => {
    const { evidence } = await capture('/popup', []);
    expect(evidence.popups).toEqual({ items: [ground.site.url('/medium')], omitted: 0 });
    expect(ground.site.hits('/medium')).toBe(0);
  });

  it('contains the first 20 dialogs and popups, with long texts cut, and counts the others', async () => {
    const flood = `for (let at = 0; at < 25; at += 1) { alert('x'.repeat(5000)); open('/' + 'y'.repeat(5000)) }`;
    const { evidence } = await ground.captureOf(htmlRequest(`<p>Flood<script>${flood}</script>`, IN_FEW_PIXELS));
    const { dialogs, popups } = evidence;
    expect([dialogs.items.length, dialogs.omitted, popups.items.length, popups.omitted]).toEqual([20, 5, 20, 5]);
    expect(JSON.stringify([dialogs, popups]).length).toBeLessThan(20 * 2 * 2100);
  });

  it('contains all cookies, with long values cut', async () => {
    const { evidence } = await capture('/evidence/cookies', []);
    const rest = { domain: '127.0.0.1', path: '/evidence', expires: null, secure: false, http_only: false };
    expect(evidence.cookies.items).toHaveLength(4);
    expect(evidence.cookies.items).toEqual(
      expect.arrayContaining([
        { ...rest, name: 'plain', value: 'yes', same_site: null },
        { ...rest, name: 'script', value: 'too', same_site: null },
        { ...rest, name: 'long', value: 'v'.repeat(1024), same_site: null },
        {
          ...rest,
          name: 'whole',
          value: 'all%20of%20it',
          expires: expect.stringMatching(/^20\d\d-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/),
          http_only: true,
          same_site: 'Strict',
        },
      ]),
    );
  });

  it('names the cookies that the request set, without their values', async () => {
    const cookies = [
      { name: 'session', value: 'a secret' },
      { name: 'plain', value: 'brought' },
    ];
    const { evidence, title } = await capture('/cookie', [], { cookies });
    expect(title).toBe('cookies: session=a secret; plain=brought');
    const seen = evidence.cookies.items.map(({ name, value }) => `${name}=${value}`).sort();
    expect(seen).toEqual(['plain=', 'session=', 'visited=yes']);
  });

  it('sends the cookies that a browser exported, but for those that have expired', async () => {
    const exported = { domain: '127.0.0.1', path: '/', hostOnly: true, storeId: '0', sameSite: 'unspecified' } as const;
    const cookies = [
      { ...exported, name: 'later', value: '1', session: false, expirationDate: 4_102_444_800.5 },
      { ...exported, name: 'past', value: '2', session: false, expirationDate: 1_000_000_000.5 },
      { ...exported, name: 'session', value: '3', session: true },
    ];
    const { evidence, title } = await capture('/cookie', [], { cookies });
    expect(title).toBe('cookies: later=1; session=3');
    const kept = evidence.cookies.items.filter(({ expires }) => expires !== null).map(({ name }) => name);
    expect(kept).toEqual(['later']);
  });

  it('contains every redirect: with its status for HTTP, with 0 for a redirect by the page itself', async () => {
    const { evidence, finalUrl } = await capture('/evidence/way', ['redirects']);
    expect(finalUrl).toBe(ground.site.url('/short'));
    const way = (from: string, status: number, to: string) => ({
      url: ground.site.url(from),
      status,
      location: ground.site.url(to),
    });
    expect(evidence.redirects).toEqual({
      items: [
        way('/evidence/way', 302, '/evidence/way/script'),
        way('/evidence/way/script', 0, '/evidence/way/refresh'),
        way('/evidence/way/refresh', 0, '/evidence/way/last'),
        way('/evidence/way/last', 307, '/short'),
      ],
      omitted: 0,
    });
  });

  it('does not count downloads and frames as redirects', async () => {
    const { evidence, title } = await capture('/evidence/way/download', ['redirects']);
    expect(title).toBe('It stays');
    expect(evidence.redirects).toEqual({ items: [], omitted: 0 });
    const framed = await capture('/evidence/headers', ['redirects']);
    expect(framed.evidence.redirects?.items).toEqual([]);
  });

  it('contains what was recorded before a capture failed', async () => {
    const failed: unknown = await capture('/evidence/way/nowhere', EVIDENCE_KINDS).catch((error: unknown) => error);
    const request = (path: string) => expect.objectContaining({ url: ground.site.url(path) });
    expect(failed).toMatchObject({
      code: 'target_unreachable',
      evidence: {
        cookies: { items: [], omitted: 0 },
        redirects: {
          items: [
            {
              url: ground.site.url('/evidence/way/nowhere'),
              status: 301,
              location: ground.site.url('/empty-response'),
            },
          ],
          omitted: 0,
        },
        tls: null,
        network: { items: [request('/evidence/way/nowhere'), request('/empty-response')], omitted: 0 },
        favicon: null,
      },
    });
  });

  it('contains the headers of the document only, with cookies, up to a limit', async () => {
    const { evidence } = await capture('/evidence/headers?many=300', ['headers']);
    const { items = [], omitted } = evidence.headers ?? {};
    expect(items).toHaveLength(200);
    expect(omitted).toBeGreaterThan(100);
    const values = new Map(items.map(({ name, value }) => [name.toLowerCase(), value]));
    expect(values.get('set-cookie')).toBe('a=1\nb=2; HttpOnly');
    expect(values.get('x-long')).toBe('l'.repeat(4096));
    expect(values.get('x-more-0')).toBe('0');
  });

  it('contains the headers of the last document', async () => {
    const { evidence } = await capture('/evidence/way', ['headers']);
    const { items = [] } = evidence.headers ?? {};
    const names = items.map(({ name }) => name.toLowerCase());
    expect(names).toContain('content-length');
    expect(names).not.toContain('location');
  });

  it('contains the connection and the certificate of a document over TLS', async () => {
    const server = createServer({ key: KEY, cert: CERTIFICATE }, (_request, response) => {
      response.setHeader('content-type', 'text/html');
      response.end('<title>Sealed</title>');
    });
    await using site = await listening(server);
    const { evidence } = await ground.captureOf(
      captureRequest(`https://127.0.0.1:${site.port}/`, { evidence: ['tls', 'favicon'], ignoreCertErrors: true }),
    );
    const { fingerprint256 } = new X509Certificate(CERTIFICATE);
    expect(evidence.tls).toEqual({
      version: 'TLS 1.3',
      cipher: expect.stringMatching(/^(AES|CHACHA)/),
      issuer: 'hooks.test',
      subject: 'hooks.test',
      names: ['hooks.test'],
      valid_from: '2026-11-21T10:07:04.000Z',
      valid_to: '2126-10-28T10:07:04.000Z',
      fingerprint: fingerprint256.replaceAll(':', '').toLowerCase(),
      chain: [new X509Certificate(CERTIFICATE).raw.toString('base64')],
    });
    // This server answers every request with a page.
    expect(evidence.favicon).toBeNull();
  });

  it('contains console messages and uncaught exceptions', async () => {
    const { evidence } = await capture('/evidence/console', ['console']);
    const at = (line: number) => ({ url: ground.site.url('/evidence/console'), line });
    const { items = [], omitted } = evidence.console ?? {};
    const isOfBrowser = ({ text }: { readonly text: string }) => text.startsWith('Failed to load resource');
    expect(items.filter(isOfBrowser)).toEqual([
      {
        level: 'error',
        text: expect.stringContaining('404'),
        url: ground.site.url('/evidence/nothing-there'),
        line: 0,
      },
    ]);
    expect({ items: items.filter((message) => !isOfBrowser(message)), omitted }).toEqual({
      items: [
        { level: 'log', text: 'said 1 true null undefined -0 {a: 1, b: "two"} [1, "x"] 10n', ...at(3) },
        { level: 'warning', text: 'careful', ...at(4) },
        { level: 'error', text: 'no good', ...at(4) },
        { level: 'debug', text: 'bug', ...at(4) },
        { level: 'info', text: 'news', ...at(4) },
        { level: 'error', text: 'sums', ...at(5) },
        {
          level: 'exception',
          text: expect.stringMatching(/^Uncaught ReferenceError: missing is not defined/),
          ...at(8),
        },
      ],
      omitted: 0,
    });
  });

  it('limits the number of console messages', async () => {
    const { evidence } = await capture('/evidence/console?many=1000', ['console']);
    expect(evidence.console?.items).toHaveLength(200);
    expect(evidence.console?.omitted).toBeGreaterThan(790);
    expect(evidence.console?.items.at(-1)?.text).toBe('x'.repeat(2048));
  });

  it('does not receive console messages beyond the limit', async () => {
    const { evidence } = await capture(`/evidence/console?long=${8 * 1024 * 1024}`, ['console']);
    const texts = (evidence.console?.items ?? []).map(({ text }) => text);
    expect(texts).toContain('sums');
    expect(texts).toContainEqual(expect.stringContaining('missing'));
    expect(texts).not.toContainEqual(expect.stringContaining('xxx'));
  });

  it('lists each request with its result in the network log, including pending ones', async () => {
    const { evidence } = await capture('/evidence/network', ['network']);
    const { items = [], omitted } = evidence.network ?? {};
    const requests = Object.fromEntries(items.map(({ url, ...rest }) => [url.replace(ground.site.origin, ''), rest]));
    const number = expect.any(Number);
    const ended = { method: 'GET', failure: '', start_ms: number, time_ms: number, bytes: number };
    expect({ requests, omitted }).toEqual({
      requests: {
        '/evidence/network': { ...ended, type: 'document', status: 200 },
        '/assets/site.css': { ...ended, type: 'stylesheet', status: 200 },
        '/redirect?to=/image.png': { ...ended, type: 'image', status: 302 },
        '/image.png': { ...ended, type: 'image', status: 200 },
        '/empty-response': { ...ended, type: 'image', status: 0, failure: 'ERR_EMPTY_RESPONSE' },
        '/404': { ...ended, type: 'image', status: 404 },
        '/data.json': { ...ended, type: 'fetch', status: 200, method: 'POST' },
        '/hang': { ...ended, type: 'image', status: 0, bytes: 0, time_ms: null },
      },
      omitted: 0,
    });
    expect(requests['/image.png']?.bytes).toBeGreaterThan(1000);
  });

  it('counts the requests that exceed the limit, and the output har has at most 1,000', async () => {
    const { evidence, outputs } = await capture('/evidence/network?many=1100', ['network'], { outputs: ['har'] });
    expect(evidence.network?.items).toHaveLength(500);
    expect(evidence.network?.omitted).toBeGreaterThan(600);
    expect(JSON.parse(String(outputs.har?.content)).log.entries).toHaveLength(1000);
    expect(outputs.har?.partial).toBe(true);
  });

  it('contains the icon that the page names, by a relation in any case and relative to its base', async () => {
    const before = ground.site.hits('/evidence/base/icon.gif');
    const { evidence } = await capture('/evidence/icon', ['favicon']);
    expect(evidence.favicon).toEqual({
      url: ground.site.url('/evidence/base/icon.gif?1'),
      type: 'image/gif',
      bytes: ICON.byteLength,
      hash: -770_443_431,
      sha256: ICON_SHA256,
    });
    expect(ground.site.hits('/evidence/base/icon.gif')).toBe(before + 1);
    const inside = await capture('/evidence/icon/inside', ['favicon']);
    expect(inside.evidence.favicon).toMatchObject({ type: 'image/gif', sha256: ICON_SHA256 });
  });

  it('contains no icon when the icon is missing or is too large', async () => {
    const before = ground.site.hits('/favicon.ico');
    for (const page of ['none', 'missing', 'large']) {
      const { evidence } = await capture(`/evidence/icon/${page}`, ['favicon']);
      expect(evidence.favicon, page).toBeNull();
    }
    expect(ground.site.hits('/favicon.ico')).toBe(before + 1);
  });
});
