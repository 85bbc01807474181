import { fileURLToPath } from 'node:url';
import { CapstanError } from '../../capture/errors.ts';
import { whenFirstAsked } from '../../capture/once.ts';
import type { HttpMiddleware } from '../state.ts';
import { readBundle } from './bundle.ts';
import { answerFile } from './web-interface.ts';

/** Built by `npm run build:docs-page`. The path is the same from src/ and from dist/. */
const BUILT = fileURLToPath(new URL('../../../dist/docs-page/', import.meta.url));
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
 * API key. The files are read with the first request.
 */
export function docsPage(directory: string = BUILT): HttpMiddleware {
  const bundle = whenFirstAsked(() => readBundle(directory));
  return async (ctx, next) => {
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') return next();
    const name = ctx.path === HOME ? 'index.html' : /^\/docs\/(assets\/.+)$/.exec(ctx.path)?.[1];
    if (name === undefined) return next();
    const files = await bundle();
    const file = files.get(name);
    if (file === undefined) throw new CapstanError('not_found', files.size > 0 ? NO_FILE : NOT_BUILT);
    answerFile(ctx, file, name !== 'index.html', PAGE_POLICY);
  };
}

const NO_FILE = 'There is no such file of the page.';
const NOT_BUILT =
  'The page was not built: run "npm run build:docs-page" in the checkout, with its development dependencies.';
