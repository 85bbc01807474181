import { createServer } from 'node:http';
import { type NameServer, startNameServer } from '../support/name-server.ts';
import { listening } from './listening.ts';

const IMAGES = 400;
const SILENT = /^image-\d+\.silent\.test$/;

/** A site with a page that starves name lookups, and with pages that need few lookups. */
export interface SilentImages extends AsyncDisposable {
  /** Answers for `*.good.test` and never for `*.silent.test`. */
  readonly nameServer: NameServer;
  /** URL of a page with 400 images on host names that the name server never answers. */
  readonly hostileUrl: string;
  /** Returns the URL of a page without images, on the host `<name>.good.test`. */
  goodUrl(name: string): string;
  /** Returns the requested names that the name server does not answer. */
  silentNames(): ReadonlySet<string>;
}

export async function startSilentImages(): Promise<SilentImages> {
  const nameServer = await startNameServer((name) => (name.endsWith('.good.test') ? ['127.0.0.1'] : 'silence'));
  const site = await listening(
    createServer((request, response) => {
      const images = Array.from({ length: IMAGES }, (_, at) => `<img src="http://image-${at}.silent.test/a.png">`);
      response.setHeader('Content-Type', 'text/html');
      response.end(`<!doctype html><title>page</title>${request.url === '/hostile' ? images.join('') : 'good'}`);
    }),
  );
  const urlOf = (name: string, path: string) => `http://${name}.good.test:${site.port}${path}`;
  return {
    nameServer,
    hostileUrl: urlOf('page', '/hostile'),
    goodUrl: (name) => urlOf(name, '/'),
    silentNames: () => new Set(nameServer.asked.filter((name) => SILENT.test(name))),
    async [Symbol.asyncDispose]() {
      await site[Symbol.asyncDispose]();
      await nameServer[Symbol.asyncDispose]();
    },
  };
}
