import { CapstanError } from '../../capture/errors.ts';
import { whenFirstAsked } from '../../capture/once.ts';
import { matchesEtag } from '../answer/if-none-match.ts';
import type { HttpContext, HttpMiddleware } from '../state.ts';
import { type BundledFile, readBundle } from './bundle.ts';

/** Address to which browsers are redirected from `/`. */
const HOME = '/ui/';
/** Names of files in `assets/` hold their hash. */
const IMMUTABLE = 'public, max-age=31536000, immutable';

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
 * and it uses the API with the session of its user. The files are read with the first request for one.
 */
export function webInterface(directory?: string): HttpMiddleware {
  const bundle = whenFirstAsked(() => readBundle(directory));
  return async (ctx, next) => {
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') return next();
    if ((ctx.path === '/' && isBrowser(ctx)) || ctx.path === '/ui') {
      ctx.vary('Accept');
      ctx.redirect(HOME);
      ctx.body = null;
      ctx.status = 302;
      return;
    }
    if (!ctx.path.startsWith(HOME)) return next();
    const files = await bundle();
    const name = ctx.path.slice(HOME.length);
    // Every path without a file is a view; the page selects it.
    const file = files.get(name.startsWith('assets/') ? name : 'index.html');
    if (file === undefined) throw new CapstanError('not_found', files.size > 0 ? NO_FILE : NOT_BUILT);
    answerFile(ctx, file, name.startsWith('assets/'));
  };
}

const NO_FILE = 'There is no such file of the web interface.';
const NOT_BUILT =
  'The web interface was not built: run "npm run build:ui" in the checkout, with its development dependencies.';

/** Only browsers name HTML when they ask for a page; other clients accept anything, or JSON. */
function isBrowser(ctx: HttpContext): boolean {
  return /\btext\/html\b/i.test(ctx.get('Accept'));
}

export function answerFile(ctx: HttpContext, file: BundledFile, isImmutable: boolean, policy = PAGE_POLICY): void {
  // Checked one by one, so that the smallest of the codings that the client prefers equally is chosen.
  const coding = (['br', 'gzip'] as const).find((each) => ctx.acceptsEncodings(each) === each);
  ctx.vary('Accept-Encoding');
  ctx.set('ETag', coding === undefined ? file.etag : file.etag.replace(/"$/, `-${coding}"`));
  ctx.set('Cache-Control', isImmutable ? IMMUTABLE : 'no-cache');
  ctx.set('Content-Security-Policy', policy);
  ctx.set('Cross-Origin-Opener-Policy', 'same-origin');
  if (matchesEtag(ctx.get('If-None-Match'), ctx.response.get('ETag'))) {
    ctx.status = 304;
    return;
  }
  ctx.status = 200;
  ctx.type = file.type;
  if (coding !== undefined) ctx.set('Content-Encoding', coding);
  ctx.body = file[coding ?? 'identity'];
}
