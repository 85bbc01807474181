import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createSecureServer } from 'node:http2';
import { join } from 'node:path';
import sharp from 'sharp';
import { listening } from '../../test/egress/listening.ts';
import { CERTIFICATE, KEY } from '../../test/receivers/certificate.ts';

/** Sub-resources of the pages, 17 on average: a style sheet, a script, and images. */
export const SUB_RESOURCES = [5, 15, 31] as const;

const IMAGE = readFileSync(join(import.meta.dirname, '../../test/fixtures/site/image.png'));

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

/** Pages with many sub-resources, over HTTP/1.1 and, with a self-signed certificate, over HTTP/2 with TLS. */
export async function startGallery() {
  const http = await listening(createServer({ keepAliveTimeout: 60_000 }, answer));
  const https = await listening(createSecureServer({ key: KEY, cert: CERTIFICATE, allowHTTP1: true }, answer));
  return { http: `http://127.0.0.1:${http.port}`, https: `https://127.0.0.1:${https.port}` };
}

/** The methods that answers of HTTP/1.1 and HTTP/2 have in common. */
interface Answer {
  writeHead(status: number, headers: Readonly<Record<string, string | number>>): unknown;
  end(body: string | Buffer): unknown;
}

function answer({ url = '/' }: { readonly url?: string | undefined }, response: Answer): void {
  const { type, body } = contentOf(url);
  response.writeHead(200, { 'content-type': type, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

/** `/<n>` is a page with that many sub-resources, `/long-<n>` one with that many photographs below each other. */
function contentOf(path: string): { readonly type: string; readonly body: string | Buffer } {
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
