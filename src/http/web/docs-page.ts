import { fileURLToPath } from 'node:url';
import { ownFile } from '../../own-files.ts';
import type { HttpMiddleware } from '../state.ts';
import { serveBundle } from './bundle.ts';

/** Built by `npm run build:docs-page`. */
const BUILT = fileURLToPath(ownFile('dist/docs-page/'));
const HOME = '/docs';

/** Only scripts of the package run. Swagger UI uses inline styles, and its style sheet contains its icons. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * Serves the OpenAPI document as a page for people, with which they can try requests. Like the document, it needs no
 * API key.
 */
export function docsPage(directory: string = BUILT): HttpMiddleware {
  const nameOf = (path: string) => (path === HOME ? 'index.html' : /^\/docs\/(assets\/.+)$/.exec(path)?.[1]);
  return serveBundle({ directory, nameOf, policy: PAGE_POLICY, what: 'page', builtBy: 'build:docs-page' });
}
