import { createServer } from 'node:https';
import { describe, expect, it } from 'vitest';
import type { CaptureOptions } from '../../src/capture/request.ts';
import type { Snapshot } from '../../src/capture/result/snapshot.ts';
import { listening } from '../egress/listening.ts';
import type { Site, SiteRequest } from '../fixtures/site.ts';
import { CERTIFICATE, KEY } from '../receivers/certificate.ts';
import { failureOf, patience } from '../support/actor.ts';
import { captureRequest } from '../support/capture-request.ts';
import { actorForSuite, siteForSuite } from '../support/for-suite.ts';
import { IN_FEW_PIXELS } from '../support/site-and-actor.ts';

describe('the network options of a capture', () => {
  const site = siteForSuite();
  /** A site of another origin, as its port differs. */
  const elsewhere = siteForSuite();
  const running = actorForSuite();

  const capture = (url: string, overrides: CaptureOptions = {}): Promise<Snapshot> =>
    running.actor.capture(captureRequest(url, { ...IN_FEW_PIXELS, ...overrides }), patience);
  const requestsFor = (where: Site, path: string): readonly SiteRequest[] =>
    where.requests.filter(({ url }) => url === path);

  describe('headers', () => {
    const headers = { Authorization: 'Bearer mine', 'X-Shift': 'night' };

    it('sends headers with the page and with requests to its own origin', async () => {
      const mark = `/embeds?of=${encodeURIComponent(elsewhere.url('/image.png?h1'))}&own=/image.png%3Fh2`;
      await capture(site.url(mark), { headers });
      for (const path of [mark, '/image.png?h2']) {
        expect(requestsFor(site, path)).toEqual([
          expect.objectContaining({
            headers: expect.objectContaining({ authorization: 'Bearer mine', 'x-shift': 'night' }),
          }),
        ]);
      }
      const [third] = requestsFor(elsewhere, '/image.png?h1');
      expect(third?.headers).not.toHaveProperty('authorization');
      expect(third?.headers).not.toHaveProperty('x-shift');
    });

    it('sends headers after a same-origin redirect but not after a cross-origin one', async () => {
      const away = elsewhere.url('/title?t=h3');
      await capture(site.url(`/redirect?to=${encodeURIComponent(away)}`), { headers });
      await capture(site.url('/redirect?to=/title?t=h4'), { headers });
      expect(requestsFor(elsewhere, '/title?t=h3')).toHaveLength(1);
      expect(requestsFor(elsewhere, '/title?t=h3')[0]?.headers).not.toHaveProperty('authorization');
      expect(requestsFor(site, '/title?t=h4')[0]?.headers).toMatchObject({ authorization: 'Bearer mine' });
    });

    it("sends headers with requests of the target's own documents, but not of a cross-origin frame", async () => {
      const secret = (by: string) => `/part?text=${by}`;
      const asking = (where: Site, by: string) => where.url(`/asks?fetch=${encodeURIComponent(site.url(secret(by)))}`);
      for (const frame of [asking(site, 'own'), asking(elsewhere, 'other')]) {
        await capture(site.url(`/asks?frame=${encodeURIComponent(frame)}&fetch=${encodeURIComponent(secret('top'))}`), {
          headers,
          javascript: { after: 'asked' },
        });
      }
      const sentBy = (by: string) => requestsFor(site, secret(by)).map((request) => request.headers.authorization);
      expect([sentBy('top'), sentBy('own'), sentBy('other')]).toEqual([
        ['Bearer mine', 'Bearer mine'],
        ['Bearer mine'],
        [undefined],
      ]);
    });

    it('replaces headers that the browser would send', async () => {
      await capture(site.url('/title?t=h5'), { headers: { 'accept-language': 'oc' } });
      expect(requestsFor(site, '/title?t=h5')[0]?.headers['accept-language']).toBe('oc');
    });
  });

  describe('cookies', () => {
    it('sends cookies with the first request, and only to the target when they name no domain', async () => {
      const cookies = [
        { name: 'shift', value: 'night' },
        { name: 'deep', value: 'yes', path: '/cookie', httpOnly: true, sameSite: 'Lax' },
        { name: 'aside', value: 'no', path: '/elsewhere' },
      ] as const;
      expect((await capture(site.url('/cookie'), { cookies })).title).toBe('cookies: deep=yes; shift=night');
    });

    it('sends cookies to the domain that they name, when the page requests something from it', async () => {
      const cookies = [{ name: 'third', value: '1', domain: '127.0.0.1' }];
      await capture(site.url(`/embeds?of=${encodeURIComponent(elsewhere.url('/image.png?c1'))}`), { cookies });
      expect(requestsFor(elsewhere, '/image.png?c1')[0]?.headers.cookie).toBe('third=1');
    });

    it('names refused cookies without their values', async () => {
      const refused = await failureOf(
        // Bypasses the request schema, which would refuse the cookie before the browser does.
        running.actor.capture(
          {
            ...captureRequest(site.url('/cookie')),
            cookies: [{ name: '__Host-a', value: 'hidden', path: '/', secure: false, httpOnly: false }],
          },
          patience,
        ),
      );
      expect(refused.code).toBe('invalid_request');
      expect(refused.message).toBe('cookies: the browser refuses "__Host-a" for the target');
    });
  });

  describe('httpCredentials', () => {
    const httpCredentials = { username: 'harbour', password: 'master:key' };

    it('sends credentials when the target asks', async () => {
      const { title, responseCode } = await capture(site.url('/members'), { httpCredentials });
      expect({ title, responseCode }).toEqual({ title: 'Members only', responseCode: 200 });
    });

    it("captures the page's error document after one more attempt when the credentials are wrong", async () => {
      const before = site.hits('/members');
      const wrong = { ...httpCredentials, password: 'guess' };
      const { title, responseCode } = await capture(site.url('/members'), { httpCredentials: wrong });
      expect({ title, responseCode }).toEqual({ title: 'Not a member', responseCode: 401 });
      expect(site.hits('/members') - before).toBe(2);
    });

    it('does not send credentials to any other origin that asks', async () => {
      const away = elsewhere.url('/members');
      const redirecting = site.url(`/redirect?to=${encodeURIComponent(away)}`);
      expect((await capture(redirecting, { httpCredentials })).title).toBe('Not a member');
      // With blockAds, every request is intercepted, including those to third parties.
      expect((await capture(redirecting, { httpCredentials, blockAds: true })).title).toBe('Not a member');
      expect(requestsFor(elsewhere, '/members').every(({ headers }) => headers.authorization === undefined)).toBe(true);
    });
  });

  it('accepts an untrusted certificate only with ignoreCertErrors', async () => {
    const server = createServer({ key: KEY, cert: CERTIFICATE }, (_request, response) => {
      response.setHeader('content-type', 'text/html');
      response.end('<!doctype html><title>Signed by itself</title>');
    });
    await using at = await listening(server);
    const url = `https://127.0.0.1:${at.port}/`;
    expect((await failureOf(capture(url))).message).toContain('its TLS certificate is');
    expect((await capture(url, { ignoreCertErrors: true })).title).toBe('Signed by itself');
    expect((await failureOf(capture(url))).code).toBe('target_unreachable');
  });
});
