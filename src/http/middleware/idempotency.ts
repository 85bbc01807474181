import { createHash, randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { Logger } from 'pino';
import { z } from 'zod';
import { ARTIFACT_KINDS } from '../../capture/artifacts/artifacts.ts';
import { CapstanError, tellsOf } from '../../capture/errors.ts';
import { bytesText, STORED_LIMITS } from '../../capture/stored-limits.ts';
import { refusal } from '../../capture/validate.ts';
import type { ServiceView } from '../../service/capture-service.ts';
import { ATTEMPT_LEASE_MS, type Attempt } from '../../storage/ports/idempotency-store.ts';
import { answerWhole } from '../answer/artifact-answer.ts';
import { CollectedLines } from '../lines/collected-lines.ts';
import type { HttpContext, HttpMiddleware } from '../state.ts';

/** Printable ASCII. */
const KEY = /^[\x20-\x7e]{1,255}$/;

/** The header, for the OpenAPI document. */
export const IdempotencyKeyHeader = z.object({
  'Idempotency-Key': z
    .string()
    .min(1)
    .max(255)
    .optional()
    .meta({
      description: `Printable ASCII. The same key and body again (the order of its fields does not matter), within 24 hours, are given the first answer; another body is 422. Not taken with a body of lines. With a database the answers are kept there, at most ${STORED_LIMITS.idempotencyKeys.count} and ${bytesText(STORED_LIMITS.idempotencyKeys.bytes)} of each API key, of which the oldest are removed. A request with a key is 503 \`database_unavailable\` while the database is away: without it the service cannot tell whether the work was done before. Without a database they are kept in memory, until the service stops.`,
    }),
});

/** Maximum characters of an answer of lines that is kept. */
const MAX_KEPT_CHARACTERS = 16 * 1024 * 1024;
/** Maximum bytes of a kept answer, compressed: fits into one MongoDB document. */
const MAX_KEPT = 12 * 1024 * 1024;
/** Headers that are replayed with the answer; the others belong to one exchange. */
const KEPT_HEADERS = [
  'Content-Type',
  'Location',
  'Preference-Applied',
  'Vary',
  'X-Capture-Cached',
  'X-Capture-Id',
  'X-Capture-Truncated',
  'X-Capture-Verdict',
];

const Kept = z.object({
  status: z.int(),
  headers: z.record(z.string(), z.string()),
  /** The text, or the file of a capture that was sent. */
  body: z.union([z.string(), z.object({ capture: z.int(), kind: z.enum(ARTIFACT_KINDS) })]),
});
type Kept = z.output<typeof Kept>;

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/**
 * Handles a request with an `Idempotency-Key` once: the same key with the same body gets the first answer again. Runs
 * after its JSON was read, before the schema parses it. Answers to refused, cancelled, unbegun and internally failed
 * requests are not kept, so that they can be retried.
 */
export function idempotent(service: ServiceView, logger: Logger): HttpMiddleware {
  return async (ctx, next) => {
    const key = keyOf(ctx);
    if (key === undefined) return next();
    const attempt: Attempt = {
      key: digestOf([ctx.state.client ?? '', ctx.method, ctx.path, key]),
      digest: digestOf([canonical(ctx)]),
      client: ctx.state.client ?? null,
      owner: randomUUID(),
    };
    const { idempotency } = service;
    const claim = await idempotency.claim(attempt);
    switch (claim.state) {
      case 'mismatch':
        throw new CapstanError('idempotency_mismatch');
      case 'in_flight':
        throw new CapstanError('idempotency_in_flight');
      case 'answered':
        return replay(ctx, service, await readKept(claim.answer));
      case 'begun':
        break;
      default:
        claim satisfies never;
    }

    const lost = (error: unknown) =>
      logger.warn({ request_id: ctx.state.requestId, err: error }, 'an Idempotency-Key could not be kept');
    const renewal = setInterval(() => void idempotency.renew(attempt).catch(lost), ATTEMPT_LEASE_MS / 3);
    ctx.state.lines = new CollectedLines(MAX_KEPT_CHARACTERS);
    let kept: Uint8Array | undefined;
    try {
      await next();
      kept = await keepable(ctx);
    } finally {
      clearInterval(renewal);
      // Kept before the answer ends, so that a client that has received it always gets the same answer again.
      await (kept === undefined ? idempotency.forget(attempt) : idempotency.keep(attempt, kept)).catch(lost);
    }
    if (ctx.respond === false) ctx.res.end();
  };
}

/**
 * Returns the JSON of a body with the keys of each object in alphabetical order: many senders give them in another
 * order each time. A body that is nested too deeply for this is compared as it was sent.
 */
function canonical({ request: { body, rawBody = '' } }: HttpContext): string {
  const inOrder = (_: string, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : value;
  try {
    return JSON.stringify(body, inOrder) ?? rawBody;
  } catch (error) {
    if (error instanceof RangeError) return rawBody;
    throw error;
  }
}

/** Refuses a key for a body of lines, which cannot be compared with another as a whole. */
export function refuseIdempotencyKey(ctx: HttpContext): void {
  if (keyOf(ctx) === undefined) return;
  throw refusal([{ path: 'Idempotency-Key', message: 'cannot be used with a body of lines' }]);
}

function keyOf(ctx: HttpContext): string | undefined {
  // `headers` would join several keys into one.
  const given = ctx.req.headersDistinct['idempotency-key'];
  if (given === undefined) return undefined;
  const [key = '', ...more] = given;
  if (more.length > 0) throw refusal([{ path: 'Idempotency-Key', message: 'must be given only once' }]);
  if (KEY.test(key)) return key;
  throw refusal([{ path: 'Idempotency-Key', message: 'must be 1 to 255 printable ASCII characters' }]);
}

/** Returns the answer to keep; undefined when the request may be retried. */
async function keepable(ctx: HttpContext): Promise<Uint8Array | undefined> {
  const { status } = ctx;
  // Failures of the target are results and are kept. Failures of the service and refusals are not.
  if (ctx.state.isCutShort === true) return undefined;
  if (status >= 400 && !tellsOf('target', status)) return undefined;
  const text = () => (typeof ctx.body === 'string' ? ctx.body : JSON.stringify(ctx.body));
  const body = ctx.state.file ?? (ctx.respond === false ? ctx.state.lines?.text : text());
  if (body === undefined) return undefined;
  if (typeof body === 'string' && ctx.respond !== false) {
    // Sends exactly the bytes that are kept.
    const type = ctx.response.get('Content-Type');
    ctx.body = body;
    ctx.set('Content-Type', type);
  }
  const headers = Object.fromEntries(
    KEPT_HEADERS.filter((name) => ctx.res.hasHeader(name)).map((name) => [name, String(ctx.response.get(name))]),
  );
  const bytes = await compress(JSON.stringify({ status, headers, body } satisfies Kept));
  return bytes.length > MAX_KEPT ? undefined : bytes;
}

async function readKept(answer: Uint8Array): Promise<Kept> {
  return Kept.parse(JSON.parse((await decompress(answer)).toString()));
}

async function replay(ctx: HttpContext, service: ServiceView, { status, headers, body }: Kept): Promise<void> {
  if (typeof body === 'string') ctx.body = body;
  else await answerWhole(ctx, service, body.capture, body.kind);
  ctx.status = status;
  ctx.set({ ...headers, 'Idempotent-Replayed': 'true' });
}

/** Hashes parts so that no two lists of parts have the same input. */
function digestOf(parts: readonly string[]): Uint8Array {
  return createHash('sha256').update(JSON.stringify(parts)).digest();
}
