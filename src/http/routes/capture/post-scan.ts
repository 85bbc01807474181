import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { errorText } from '../../../capture/basics/error-text.ts';
import type { CaptureRequest } from '../../../capture/request.ts';
import { bytesText, STORED_LIMITS } from '../../../capture/stored-limits.ts';
import { parseOrRefuse, refusal } from '../../../capture/validate.ts';
import type { ScanSettings } from '../../../capture/work/scan.ts';
import { answer } from '../../answer/envelope.ts';
import { ScanSchema } from '../../answer/schemas.ts';
import { goneSignal } from '../../connection/client-gone.ts';
import { dropBody } from '../../connection/drop-body.ts';
import { callerOf } from '../../keys/callers.ts';
import { within } from '../../lines/body-lines.ts';
import { bodyDecoder, brokenBody, decodedBody, LIST_TYPES } from '../../lines/streamed-body.ts';
import { refuseIdempotencyKey } from '../../middleware/idempotency.ts';
import { envelope } from '../../openapi/content.ts';
import { admitCallback } from '../../request/callback.ts';
import { publicPath } from '../../request/public-address.ts';
import { requireRate, spendRate } from '../../request/spend-rate.ts';
import { type RouteContext, routeWithBody } from '../../route.ts';
import type { HttpContext } from '../../state.ts';
import { jobAnswer } from '../jobs.ts';

/** A scan that a client requested. */
interface Asked extends ScanSettings {
  readonly callback?: string | undefined;
  readonly notify?: readonly string[] | undefined;
  readonly capture: CaptureRequest;
}

const text = z.string().optional();

export const postScan = routeWithBody({
  method: 'POST',
  path: '/scans',
  operationId: 'scan',
  summary: 'Captures the targets of a list.',
  description: `A job of the kind \`scan\`: \`GET /jobs/{id}\` has its progress and outcomes, \`DELETE /jobs/{id}\` cancels it, its events have its id as \`batch\`, and \`GET /results?scan=\` lists its captures.

The list is text in \`targets\`, or the body itself: ${LIST_TYPES.map((type) => `\`${type}\``).join(', ')}, whose form its beginning tells and which may be compressed with gzip. The other fields of a ScanRequest are parameters then, \`capture\` as JSON. A body is stored as it arrives. Networks are counted before they are expanded: at most ${STORED_LIMITS.scanList.count.toLocaleString('en')} targets, and ${bytesText(STORED_LIMITS.scanList.bytes)} of compressed lines. A line that is no target is left out, and \`list\` says why.

Hosts take turns. A \`Retry-After\` with the status 429 or 503 is obeyed once, if it is within \`timeoutMs\`. A capture that was redirected to a page that the scan already has is marked with \`same_as\`.`,
  tag: 'capture',
  needsDatabase: true,
  isIdempotent: true,
  parameters: {
    ports: text.meta({ description: 'For a list as the body: as `ports` of a ScanRequest.' }),
    schemes: text.meta({ description: 'For a list as the body: as `schemes` of a ScanRequest.' }),
    perHost: text.meta({ type: 'integer', description: 'For a list as the body: as `perHost` of a ScanRequest.' }),
    sameHostDelayMs: text.meta({
      type: 'integer',
      description: 'For a list as the body: as `sameHostDelayMs` of a ScanRequest.',
    }),
    concurrency: text.meta({
      type: 'integer',
      description: 'For a list as the body: as `concurrency` of a ScanRequest.',
    }),
    callback: text.meta({ description: 'For a list as the body: as `callback` of a ScanRequest.' }),
    notify: text.meta({ description: 'For a list as the body: names as in `notify` of a ScanRequest, with commas.' }),
    capture: text.meta({ description: 'For a list as the body: as `capture` of a ScanRequest, as JSON.' }),
  },
  body: { name: 'ScanRequest', schema: ({ scan }) => scan },
  lines: { name: null, types: LIST_TYPES, handle: scanSentList },
  answers: {
    202: {
      description: 'Kept, and will be done.',
      content: envelope('Scan', ScanSchema),
      headers: ['Location', 'Idempotent-Replayed'],
    },
  },
  failures: ['target_forbidden', 'rate_limited', 'request_timeout', 'queue_full', 'shutting_down'],
  handle: async (ctx, { parameters, body: { targets, ...asked } }, context) => {
    const names = Object.keys(parameters);
    const message = 'is only for a list as the body; put it into the JSON body';
    if (names.length > 0) throw refusal(names.map((path) => ({ path, message })));
    await startScan(ctx, context, bytesOf(targets), asked);
  },
});

async function scanSentList(
  ctx: HttpContext,
  { capture, notify, ...parameters }: Readonly<Record<string, string | undefined>>,
  context: RouteContext,
): Promise<void> {
  refuseIdempotencyKey(ctx);
  try {
    const decoder = bodyDecoder(ctx.req);
    const asked = parseOrRefuse(context.schemas.scanSettings, {
      ...parameters,
      ...Object.fromEntries(INTEGERS.flatMap((name) => numberIn(name, parameters[name]))),
      ...(capture !== undefined && { capture: jsonIn('capture', capture) }),
      ...(notify !== undefined && { notify: notify.split(',') }),
    });
    const body = decodedBody(ctx.req, decoder);
    try {
      await startScan(ctx, context, chunksOf(body, context.silenceMs), asked);
    } finally {
      if (body !== ctx.req) body.destroy();
    }
  } finally {
    dropBody(ctx.req);
  }
}

async function startScan(
  ctx: HttpContext,
  context: RouteContext,
  list: AsyncIterable<Uint8Array>,
  { capture, callback, notify, concurrency, ...scan }: Asked,
): Promise<void> {
  const { service } = context;
  const { owner, apiKeyName, isIsolated } = callerOf(ctx);
  await admitCallback(ctx, service, callback);
  await service.receivers.admitNames(notify ?? [], apiKeyName);
  const options = { concurrency, callback, notify, scan, by: { owner, apiKeyName, isIsolated } };
  const { gone, release } = goneSignal(ctx);
  const admission = {
    requireRate: (targets: number) => requireRate(ctx, context, targets),
    admit: (targets: number) => spendRate(ctx, context, targets),
    gone,
  };
  const { job, report } = await service.jobs.addScan(list, capture, options, admission).finally(release);
  answer(ctx, { ...jobAnswer(job), list: report }, 'The scan is kept, and will be done.');
  ctx.status = 202;
  ctx.set('Location', publicPath(ctx, `/jobs/${job.id}`));
}

const PIECE_BYTES = 64 * 1024;

const INTEGERS = ['perHost', 'sameHostDelayMs', 'concurrency'] as const;

/** Returns a number, or the text itself, which the schema refuses. */
function numberIn(name: string, value: string | undefined): readonly (readonly [string, unknown])[] {
  if (value === undefined) return [];
  return [[name, /^\d+$/.test(value) ? Number(value) : value]];
}

function jsonIn(path: string, value: string): unknown {
  try {
    return JSON.parse(value);
  } catch (error) {
    throw refusal([{ path, message: `must be JSON: ${errorText(error)}` }]);
  }
}

/** Generates the bytes of a text in pieces: what is made of a piece is in memory at once. */
async function* bytesOf(value: string): AsyncGenerator<Uint8Array, void, undefined> {
  const bytes = Buffer.from(value);
  for (let at = 0; at < bytes.byteLength; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}

/** Generates the bytes of a body. Throws `request_timeout` after `silenceMs` without any. */
async function* chunksOf(
  body: Pick<IncomingMessage, 'iterator'>,
  silenceMs: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  // Destroying a request closes its connection, on which the answer is still to be sent.
  const chunks = body.iterator({ destroyOnReturn: false });
  try {
    for (let step = await within(silenceMs, chunks.next()); step.done !== true; ) {
      yield step.value;
      step = await within(silenceMs, chunks.next());
    }
  } catch (error) {
    throw brokenBody(error);
  }
}
