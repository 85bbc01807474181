import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { ARTIFACTS, type ArtifactKind, etagOf } from '../../capture/artifacts/artifacts.ts';
import { CapstanError } from '../../capture/errors.ts';
import type { ServiceView } from '../../service/capture-service.ts';
import type { OpenArtifact } from '../../storage/ports/artifact-store.ts';
import type { HttpContext } from '../state.ts';
import { readByteRange } from './byte-range.ts';
import { answerFailure } from './envelope.ts';
import { matchesEtag } from './if-none-match.ts';

/** The files of a capture never change. Caches keep nothing for longer than a year. */
export const CACHE_CONTROL = 'private, max-age=31536000, immutable';

/**
 * Policy of untrusted content that is served from our origin: a unique origin, no scripts, no requests. Only inline
 * content is shown, and only pages of this service may frame it: the web interface does.
 */
const INERT_POLICY =
  "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

/** Sets the headers of a file's answer. */
function describeArtifact(ctx: HttpContext, { info }: OpenArtifact, kind: ArtifactKind): void {
  ctx.state.file = { capture: info.id, kind };
  ctx.set('Cache-Control', CACHE_CONTROL);
  ctx.set('X-Capture-Id', String(info.id));
  const { mediaType, isInert } = ARTIFACTS[kind];
  ctx.type = mediaType(info.format);
  ctx.set('ETag', `"${etagOf(kind, info)}"`);
  if (isInert) ctx.set({ 'Content-Security-Policy': INERT_POLICY, 'X-Frame-Options': 'SAMEORIGIN' });
}

/** Answers with the whole file of a capture that this process may have just made. */
export async function answerWhole(
  ctx: HttpContext,
  { artifacts, whyMissing }: Pick<ServiceView, 'artifacts' | 'whyMissing'>,
  id: number,
  kind: ArtifactKind,
): Promise<void> {
  const artifact = await artifacts.open(id, kind, { undelivered: true });
  if (artifact === undefined) throw await whyMissing(id);
  ctx.status = 200;
  describeArtifact(ctx, artifact, kind);
  await answerBytes(ctx, artifact.stream());
  ctx.length = artifact.bytes;
}

/** Waits for the first bytes: a store that is away before them has an answer of its own, not a broken connection. */
async function answerBytes(ctx: HttpContext, stream: Readable): Promise<void> {
  try {
    await once(stream, 'readable');
  } catch (error) {
    for (const name of ['ETag', 'Accept-Ranges', 'Content-Range', 'X-Capture-Id']) ctx.remove(name);
    ctx.set('Cache-Control', 'no-store');
    throw error;
  }
  ctx.body = stream;
}

/** Answers with the whole file, with 304, or with the part that `Range` asks for. Always closes the file. */
export async function answerArtifact(ctx: HttpContext, artifact: OpenArtifact, kind: ArtifactKind): Promise<void> {
  ctx.status = 200;
  describeArtifact(ctx, artifact, kind);
  ctx.set('Accept-Ranges', 'bytes');
  if (matchesEtag(ctx.get('If-None-Match'), ctx.response.get('ETag'))) {
    ctx.status = 304;
    return artifact.close();
  }
  if (isRedirected(ctx, artifact, kind)) return answerElsewhere(ctx, artifact, kind);
  const range = ctx.method === 'GET' && rangeApplies(ctx) ? readByteRange(ctx.get('Range'), artifact.bytes) : null;
  if (range === 'unsatisfiable') {
    await artifact.close();
    return answerUnsatisfiable(ctx, artifact.bytes);
  }
  if (range !== null) {
    ctx.status = 206;
    ctx.set('Content-Range', `bytes ${range.start}-${range.end}/${artifact.bytes}`);
  }
  const length = range === null ? artifact.bytes : range.end - range.start + 1;
  if (ctx.method === 'HEAD') await artifact.close();
  else await answerBytes(ctx, range === null ? artifact.stream() : artifact.stream(range));
  ctx.length = length;
}

/**
 * Only images are sent by the artifact store: the policy of inert content is a header of this service. The web
 * interface shows nothing of other origins.
 */
function isRedirected(ctx: HttpContext, { location }: OpenArtifact, kind: ArtifactKind): boolean {
  const isOwnPage = ctx.get('Sec-Fetch-Site') === 'same-origin';
  return location !== undefined && !ARTIFACTS[kind].isInert && ctx.method === 'GET' && !isOwnPage;
}

async function answerElsewhere(ctx: HttpContext, { info, location, close }: OpenArtifact, kind: ArtifactKind) {
  const { stem, mediaType, extension } = ARTIFACTS[kind];
  const file = `${stem}-${info.id}.${extension(info.format)}`;
  await close();
  ctx.status = 302;
  ctx.set('Location', (await location?.({ type: mediaType(info.format), file })) ?? '');
  ctx.set('Cache-Control', 'no-store');
  ctx.vary('Sec-Fetch-Site');
  ctx.remove('Content-Type');
  ctx.remove('Accept-Ranges');
}

/** Returns whether `If-Range` allows `Range`: it must be the file's ETag. Dates never match. */
function rangeApplies(ctx: HttpContext): boolean {
  const condition = ctx.get('If-Range');
  return condition === '' || condition === ctx.response.get('ETag');
}

function answerUnsatisfiable(ctx: HttpContext, bytes: number): void {
  ctx.remove('ETag');
  ctx.set('Cache-Control', 'no-store');
  ctx.set('Content-Range', `bytes */${bytes}`);
  answerFailure(
    ctx,
    new CapstanError('range_not_satisfiable', `The range begins after the end of the file, which has ${bytes} bytes.`),
  );
}
