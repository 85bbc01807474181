import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { whenFirstAsked } from '../../capture/basics/once.ts';
import { CapstanError } from '../../capture/errors.ts';
import { matchesEtag } from '../answer/if-none-match.ts';
import type { HttpContext, HttpMiddleware } from '../state.ts';

/** Names of files in `assets/` hold their hash. */
const IMMUTABLE = 'public, max-age=31536000, immutable';
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** A file in each content coding. */
interface BundledFile {
  readonly type: string;
  /** Quoted, without the content coding. */
  readonly etag: string;
  readonly identity: Buffer;
  readonly br: Buffer;
  readonly gzip: Buffer;
}

interface Served {
  readonly directory: string;
  /** Returns the name of a path's file; undefined for a path that is not served. */
  readonly nameOf: (path: string) => string | undefined;
  /** The value of `Content-Security-Policy`. */
  readonly policy: string;
  /** Its name in error texts, and the npm script that builds it. */
  readonly what: string;
  readonly builtBy: string;
}

/** Serves the files of a built directory, which are read with the first request for one. */
export function serveBundle({ directory, nameOf, policy, what, builtBy }: Served): HttpMiddleware {
  const bundle = whenFirstAsked(() => readBundle(directory));
  return async (ctx, next) => {
    const name = ctx.method === 'GET' || ctx.method === 'HEAD' ? nameOf(ctx.path) : undefined;
    if (name === undefined) return next();
    const files = await bundle();
    const file = files.get(name);
    if (file !== undefined) return answerBundled(ctx, file, name.startsWith('assets/'), policy);
    const notBuilt = `The ${what} was not built: run "npm run ${builtBy}" in the checkout, with its development dependencies.`;
    throw new CapstanError('not_found', files.size > 0 ? `There is no such file of the ${what}.` : notBuilt);
  };
}

function answerBundled(ctx: HttpContext, file: BundledFile, isImmutable: boolean, policy: string): void {
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

/** Reads all files of a built directory, by their path in it. Empty when it was not built. */
async function readBundle(directory: string): Promise<ReadonlyMap<string, BundledFile>> {
  const names = await readdir(directory, { recursive: true }).catch(() => []);
  const served = names.map((name) => name.replaceAll('\\', '/')).filter((name) => extname(name) in MEDIA_TYPES);
  return new Map(
    await Promise.all(served.map(async (name) => [name, await readBundled(join(directory, name))] as const)),
  );
}

async function readBundled(path: string): Promise<BundledFile> {
  const [identity, br, gzip] = await Promise.all([path, `${path}.br`, `${path}.gz`].map((each) => readFile(each)));
  if (identity === undefined || br === undefined || gzip === undefined) throw new Error(`${path} cannot be read`);
  const etag = `"${createHash('sha256').update(identity).digest('base64url').slice(0, 22)}"`;
  return { type: MEDIA_TYPES[extname(path)] ?? '', etag, identity, br, gzip };
}
