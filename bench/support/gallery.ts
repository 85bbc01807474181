import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createSecureServer } from 'node:http2';
import type { Server } from 'node:net';
import { join } from 'node:path';
import sharp from 'sharp';
import { CERTIFICATE, KEY } from '../../test/webhooks/certificate.ts';

/** Sub-resources of the pages, 17 on average: a style sheet, a script, and images. */
export const SUB_RESOURCES = [5, 15, 31] as const;

const IMAGE = readFileSync(join(import.meta.dirname, '../../test/fixtures/site/image.png'));

export interface Gallery {
  /** `http://127.0.0.1:<port>`. */
  readonly http: string;
  /** `https://127.0.0.1:<port>`, over HTTP/2 with a self-signed certificate. */
  readonly https: string;
  close(): void;
}

/** Images of the long pages, of which the window shows two. */
export const PHOTOS = [4, 12, 40] as const;

const PHOTO = await sharp({
  create: {
    width: 1200,
    height: 800,
    channels: 3,
    background: 'grey',
    noise: { type: 'gaussian', mean: 128, sigma: 40 },
  },
})
  .blur(3)
  .jpeg()
  .toBuffer();

/** Pages with many sub-resources, over HTTP/1.1 and over HTTP/2 with TLS. */
export async function startGallery(): Promise<Gallery> {
  const plain = createServer({ keepAliveTimeout: 60_000 }, answer);
  const secure = createSecureServer({ key: KEY, cert: CERTIFICATE, allowHTTP1: true }, (request, response) => {
    const { type, body } = contentOf(request.url);
    response.writeHead(200, { 'content-type': type, 'content-length': Buffer.byteLength(body) });
    response.end(body);
  });
  const [http, https] = await Promise.all([portOf(plain), portOf(secure)]);
  return {
    http: `http://127.0.0.1:${http}`,
    https: `https://127.0.0.1:${https}`,
    close: () => {
      plain.close();
      secure.close();
    },
  };
}

const answer: RequestListener = (request, response) => {
  const { type, body, shared = false } = contentOf(request.url ?? '/');
  const headers = { 'content-type': type, 'content-length': Buffer.byteLength(body) };
  response.writeHead(200, shared ? { ...headers, 'cache-control': 'public, max-age=3600' } : headers);
  response.end(body);
};

/** The files that the pages of one site share: style sheet, script and photographs. */
const SHARED: Readonly<Record<string, { readonly type: string; readonly body: string | Buffer }>> = {
  '/shared.css': { type: 'text/css', body: sharedStyles() },
  '/shared.js': { type: 'text/javascript', body: sharedScript() },
  '/shared.jpg': { type: 'image/jpeg', body: PHOTO },
  '/shared.png': { type: 'image/png', body: IMAGE },
};

/**
 * `/<n>` is a page with that many sub-resources, `/long-<n>` one with that many photographs below each other,
 * `/article-<n>` a page of a site whose pages share what they load.
 */
function contentOf(path: string): { readonly type: string; readonly body: string | Buffer; readonly shared?: true } {
  const [file = ''] = path.split('?');
  const shared = SHARED[file];
  if (shared !== undefined) return { ...shared, shared: true };
  const article = /^\/article-(\d+)$/.exec(path)?.[1];
  if (article !== undefined) return { type: 'text/html; charset=utf-8', body: articleOf(Number(article)) };
  const count = /^\/(\d+)$/.exec(path)?.[1];
  if (count !== undefined) return { type: 'text/html; charset=utf-8', body: pageOf(Number(count)) };
  const photos = /^\/long-(\d+)$/.exec(path)?.[1];
  if (photos !== undefined) return { type: 'text/html; charset=utf-8', body: longPageOf(Number(photos)) };
  if (path.endsWith('.jpg')) return { type: 'image/jpeg', body: PHOTO };
  if (path.endsWith('.css')) return { type: 'text/css', body: 'img { width: 200px; height: 120px; margin: 4px }' };
  if (path.endsWith('.js')) return { type: 'text/javascript', body: 'document.title += " (ready)";' };
  return { type: 'image/png', body: IMAGE };
}

function pageOf(subResources: number): string {
  const images = Array.from({ length: subResources - 2 }, (_, index) => `<img src="/image-${index}.png" alt="">`);
  return `<!doctype html><title>Gallery</title><link rel="stylesheet" href="/style.css"><script src="/script.js"></script>
<h1>${subResources} sub-resources</h1>${images.join('\n')}`;
}

function longPageOf(photos: number): string {
  const images = Array.from(
    { length: photos },
    (_, index) => `<p><img src="/photo-${index}.jpg" width="900" height="600" alt="">`,
  );
  return `<!doctype html><title>Long</title><h1>${photos} photographs</h1>${images.join('\n')}`;
}

/** 24 shared files: a style sheet, a script and 22 images, four of them photographs. */
function articleOf(number: number): string {
  const photos = Array.from({ length: 4 }, (_, index) => `<img src="/shared.jpg?${index}" alt="">`);
  const icons = Array.from({ length: 18 }, (_, index) => `<img class="icon" src="/shared.png?${index}" alt="">`);
  const words = Array.from({ length: 40 }, (_, index) => `<p class="c${index}">Paragraph ${index} of ${number}.</p>`);
  return `<!doctype html><title>Article ${number}</title><link rel="stylesheet" href="/shared.css">
<script src="/shared.js"></script><h1>Article ${number}</h1>${icons.join('')}${photos.join('')}${words.join('')}`;
}

/** 3,000 rules, 150 kB: as many as the style sheet of a usual site. */
function sharedStyles(): string {
  const rules = Array.from(
    { length: 3000 },
    (_, index) => `.c${index} { margin: ${index % 7}px; color: #${String(index % 1000).padStart(3, '0')} }`,
  );
  return `img { width: 240px; height: 160px } .icon { width: 24px; height: 24px }\n${rules.join('\n')}`;
}

/** 3,000 functions of which a tenth run, 350 kB: as much as the script of a usual site. */
function sharedScript(): string {
  const functions = Array.from(
    { length: 3000 },
    (_, index) =>
      `function f${index}(value) { const list = [value, ${index}]; return list.map((one) => one * 2).reduce((sum, one) => sum + one, 0); }`,
  );
  const calls = Array.from({ length: 300 }, (_, index) => `f${index * 10}(${index})`);
  return `${functions.join('\n')}\ndocument.title += ' ' + (${calls.join(' + ')});`;
}

function portOf(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      if (address === null || typeof address === 'string') reject(new TypeError('the gallery has no port'));
      else resolve(address.port);
    });
  });
}
