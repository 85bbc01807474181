import { createHash, X509Certificate } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { describe, expect, it } from 'vitest';
import type { CaptureOptions } from '../../src/capture/request.ts';
import { listening } from '../egress/listening.ts';
import { ICON_SHA256 } from '../fixtures/evidence-routes.ts';
import { CERTIFICATE, KEY } from '../receivers/certificate.ts';
import { patience } from '../support/actor.ts';
import { captureRequest, htmlRequest } from '../support/capture-request.ts';
import { IN_FEW_PIXELS, siteAndActor } from '../support/site-and-actor.ts';

const ground = siteAndActor();

async function factsOf(url: string, options: CaptureOptions = {}) {
  const { hostFacts } = await ground.running.actor.capture(
    captureRequest(url, { ...IN_FEW_PIXELS, ...options }),
    patience,
  );
  return hostFacts;
}

function answer(response: ServerResponse): void {
  response.setHeader('content-type', 'text/html');
  response.setHeader('server', 'nginx/1.26.3');
  response.setHeader('x-powered-by', ['PHP/8.2.1', 'ASP.NET']);
  response.setHeader('content-security-policy', "default-src 'self'");
  response.setHeader('strict-transport-security', 'max-age=31536000');
  response.end('<title>Facts</title><p>Content');
}

const tls = { key: KEY, cert: CERTIFICATE };
const CERTIFICATE_FACTS = {
  subject: 'hooks.test',
  names: ['hooks.test'],
  issuer: 'hooks.test',
  valid_from: '2026-11-21T10:07:04.000Z',
  valid_to: '2126-10-28T10:07:04.000Z',
  sha256: createHash('sha256').update(new X509Certificate(CERTIFICATE).raw).digest('hex'),
};

describe('the facts about a host', () => {
  it('contain the headers and the certificate of the document, without a further request', async () => {
    const asked: (string | undefined)[] = [];
    const server = createTlsServer(tls, (request, response) => {
      asked.push(request.url);
      answer(response);
    });
    await using site = await listening(server);
    expect(await factsOf(`https://127.0.0.1:${site.port}/`, { ignoreCertErrors: true })).toEqual({
      server: 'nginx/1.26.3',
      powered_by: 'PHP/8.2.1, ASP.NET',
      content_security_policy: true,
      hsts: true,
      certificate: CERTIFICATE_FACTS,
      favicon: null,
    });
    expect(asked).toEqual(['/']);
  });

  it.each(['load', 'domcontentloaded', 'networkidle'] as const)(
    'do not contain them with waitUntil: %s, for which the browser reports no responses, unless they are evidence',
    async (waitUntil) => {
      await using site = await listening(createTlsServer(tls, (_request, response) => answer(response)));
      const url = `https://127.0.0.1:${site.port}/`;
      expect(await factsOf(url, { ignoreCertErrors: true, waitUntil })).toMatchObject({
        server: null,
        powered_by: null,
        content_security_policy: null,
        hsts: null,
        certificate: null,
      });
      const asked = await factsOf(url, { ignoreCertErrors: true, waitUntil, evidence: ['tls'] });
      expect(asked).toMatchObject({ server: 'nginx/1.26.3', hsts: true, certificate: CERTIFICATE_FACTS });
    },
  );

  it('are those of the last document, with 256 characters of a long header', async () => {
    const long = { server: 's'.repeat(300), 'content-type': 'text/html' };
    await using last = await listening(
      createServer((_request, response) => response.writeHead(200, long).end('<p>Last')),
    );
    const server = createServer((_request, response) => {
      response.writeHead(200, { server: 'first', 'content-type': 'text/html' });
      response.end(`<meta http-equiv="refresh" content="0;url=http://127.0.0.1:${last.port}/">`);
    });
    await using first = await listening(server);
    expect(await factsOf(`http://127.0.0.1:${first.port}/`)).toMatchObject({ server: 's'.repeat(256) });
  });

  it('say that a document came without the headers', async () => {
    expect(await factsOf(ground.site.url('/blank'))).toEqual({
      server: '',
      powered_by: '',
      content_security_policy: false,
      hsts: false,
      certificate: null,
      favicon: null,
    });
  });

  it('contain the hashes of the icon when it is requested as evidence', async () => {
    const facts = await factsOf(ground.site.url('/evidence/icon'), { evidence: ['favicon'] });
    expect(facts?.favicon).toEqual({ hash: expect.any(Number), sha256: ICON_SHA256 });
  });

  it('contain the libraries that run in the page when they are requested as evidence, whatever the page does', async () => {
    const hostile = `<script>
      window.Backbone = { Model: { prototype: { set() {} } }, VERSION: '1.4.0' };
      Object.defineProperty(window, 'dojo', { get() { for (;;); } });
    </script>`;
    const page = `<script>window.L = { marker() {}, GeoJSON: {}, version: '1.9.4' }</script>`;
    await using site = await listening(
      createServer((request, response) => {
        response.setHeader('content-type', 'text/html');
        response.end(request.url === '/hostile' ? hostile : page);
      }),
    );
    const librariesOf = async (path: string) => {
      const request = captureRequest(`http://127.0.0.1:${site.port}${path}`, { evidence: ['libraries'] });
      const { evidence, softwareSigns } = await ground.running.actor.capture(request, patience);
      expect(softwareSigns.libraries).toEqual(evidence.libraries?.items);
      return evidence.libraries;
    };
    expect(await librariesOf('/')).toEqual({ items: [{ name: 'Leaflet', version: '1.9.4' }], omitted: 0 });
    expect(await librariesOf('/hostile')).toEqual({ items: [], omitted: 0 });
  });

  it('contain no headers of a PDF, which a page of the service shows', async () => {
    expect(await factsOf(ground.site.url('/files/long.pdf'))).toMatchObject({
      server: null,
      hsts: null,
      certificate: null,
    });
  });

  it('are not known of given HTML', async () => {
    const { hostFacts } = await ground.running.actor.capture(htmlRequest('<p>Given'), patience);
    expect(hostFacts).toBeNull();
  });
});
