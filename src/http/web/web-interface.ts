import { fileURLToPath } from 'node:url';
import { ownFile } from '../../own-files.ts';
import { publicPath } from '../request/public-address.ts';
import type { HttpContext, HttpMiddleware } from '../state.ts';
import { serveBundle } from './bundle.ts';

/** Built by `npm run build:ui`. */
const BUILT = fileURLToPath(ownFile('dist/ui/'));
/** Address to which browsers are redirected from `/`. */
const HOME = '/ui/';

/** Policy of the interface's page: its own files and the API. Data of captures never becomes markup. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob:",
  "connect-src 'self'",
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/**
 * Serves the web interface below `/ui/`, and sends browsers there from `/`. It needs no API key: its files are public,
 * and it uses the API with the session of its user.
 */
export function webInterface(directory: string = BUILT): HttpMiddleware {
  const serve = serveBundle({ directory, nameOf, policy: PAGE_POLICY, what: 'web interface', builtBy: 'build:ui' });
  return (ctx, next) => {
    const isRead = ctx.method === 'GET' || ctx.method === 'HEAD';
    if (!isRead || !((ctx.path === '/' && isBrowser(ctx)) || ctx.path === '/ui')) return serve(ctx, next);
    ctx.vary('Accept');
    ctx.redirect(publicPath(ctx, HOME));
    ctx.body = null;
    ctx.status = 302;
  };
}

/** Every path without a file is a view; the page selects it, and names its files relative to the view. */
function nameOf(path: string): string | undefined {
  return path.startsWith(HOME) ? (/\/(assets\/.*)$/.exec(path)?.[1] ?? 'index.html') : undefined;
}

/** Only browsers name HTML when they ask for a page; other clients accept anything, or JSON. */
function isBrowser(ctx: HttpContext): boolean {
  return /\btext\/html\b/i.test(ctx.get('Accept'));
}
