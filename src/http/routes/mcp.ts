import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { z } from 'zod';
import { CapstanError } from '../../capture/errors.ts';
import { REQUEST_LIMITS } from '../../capture/request-limits.ts';
import { refusal } from '../../capture/validate.ts';
import { apiAt } from '../../mcp/api.ts';
import { BOUNDED_TEXTS, isTooLong, TOO_LONG, tooLongIn } from '../../mcp/message-limits.ts';
import { withoutNullParams } from '../../mcp/null-params.ts';
import { callerOf } from '../keys/callers.ts';
import { ANY_JSON, text } from '../openapi/content.ts';
import { preferredType } from '../request/negotiation.ts';
import { publicUrl } from '../request/public-address.ts';
import { type RouteContext, routeWithBody } from '../route.ts';
import type { HttpContext } from '../state.ts';

const MESSAGE = 'must be a JSON-RPC 2.0 message of the Model Context Protocol';

/** The media types of answers. */
const ANSWERS = ['application/json', 'text/event-stream'];

/** Part of a message that is checked here; the SDK checks the rest. */
const McpMessageSchema = z
  .looseObject({ jsonrpc: z.literal('2.0', { error: MESSAGE }), method: z.string().optional() }, { error: MESSAGE })
  .superRefine((message, context) => {
    const path = tooLongIn(message);
    if (path === undefined) return;
    context.addIssue({ code: 'custom', path: [...path], message: TOO_LONG });
  });

/** A batch is answered with an error of JSON-RPC. */
const McpBodySchema = z.union([McpMessageSchema, z.array(z.unknown())], { error: MESSAGE });

export const postMcp = routeWithBody({
  method: 'POST',
  path: '/mcp',
  operationId: 'callMcp',
  scope: 'read',
  summary: 'The Model Context Protocol over Streamable HTTP.',
  description: `For language-model agents. Tools are requests to this API with the key of the caller, and need the scopes of those. The message's ${BOUNDED_TEXTS} ${TOO_LONG}. \`Accept\` must take \`application/json\` and \`text/event-stream\`.`,
  tag: 'capture',
  parameters: {},
  headers: z.object({
    'Mcp-Session-Id': z.string().max(REQUEST_LIMITS.names.max).optional().meta({
      description:
        'The value in the answer to `initialize`. With it, `notifications/cancelled` ends a call; it has no other effect.',
    }),
  }),
  screen: refuseOtherOrigins,
  body: { name: 'McpMessage', schema: () => McpBodySchema },
  answers: {
    200: {
      description: 'A JSON-RPC answer, or a stream of messages.',
      content: { ...ANY_JSON, ...text('text/event-stream') },
      headers: ['Mcp-Session-Id'],
    },
    202: { description: 'The notification was taken.', content: {} },
  },
  failures: ['origin_not_allowed'],
  handle: async (ctx, { body }, { agentCalls }) => {
    if (Array.isArray(body)) return refuseBatch(ctx);
    const message = withoutNullParams(body);
    const over = new AbortController();
    const { socket } = ctx.req;
    const onClose = () => over.abort();
    socket.once('close', onClose);
    const session = sessionOf(ctx);
    const answered = agentCalls.take(session && `${callerOf(ctx).apiKeyName} ${session}`, message, over);
    ctx.res.once('close', () => {
      answered();
      // The connection is reused, so it must not keep listeners or data of this request.
      socket.off('close', onClose);
    });
    // Loaded with the first message, because they take an eighth of the CPU time of a start.
    const [{ createMcpHandler }, { createMcpServer }] = await Promise.all([
      import('@modelcontextprotocol/server'),
      import('../../mcp/mcp-server.ts'),
    ]);
    const handler = createMcpHandler(() => createMcpServer(ownApi(ctx), () => socket.writableLength === 0), {
      // Nothing that could be subscribed to changes; each stream would hold a connection.
      maxSubscriptions: 0,
    });
    const request = new Request(new URL(ctx.path, `http://${ctx.host}`), {
      method: 'POST',
      headers: forwarded(ctx),
      body: JSON.stringify(message),
      signal: over.signal,
    });
    const response = await handler.fetch(request, { parsedBody: message });
    for (const [name, value] of response.headers) ctx.set(name, value);
    if (message.method === 'initialize') ctx.set('Mcp-Session-Id', randomUUID());
    ctx.body = response.body === null ? null : Readable.fromWeb(response.body as ReadableStream);
    // After the body: without one, Koa sets 204.
    ctx.status = response.status;
  },
});

function sessionOf(ctx: HttpContext): string {
  const session = ctx.get('Mcp-Session-Id');
  if (!isTooLong(session)) return session;
  throw refusal([{ path: 'Mcp-Session-Id', message: TOO_LONG }]);
}

function refuseBatch(ctx: HttpContext): void {
  ctx.status = 400;
  const message = 'Batches are not accepted: send each message in a request of its own.';
  ctx.body = { jsonrpc: '2.0', id: null, error: { code: -32600, message } };
}

/** The API of this service at the address that the client reached, with the client's key. */
function ownApi(ctx: HttpContext) {
  const { localAddress = '127.0.0.1', localPort } = ctx.req.socket;
  const address = localAddress.replace(/^::ffff:/i, '');
  const host = address.includes(':') ? `[${address}]` : address;
  const bearer = /^bearer +(.+)$/i.exec(ctx.get('Authorization'))?.[1];
  return apiAt(`http://${host}:${localPort}`, bearer ?? (ctx.get('X-API-Key') || undefined), publicUrl(ctx));
}

function forwarded(ctx: HttpContext): Headers {
  const headers = new Headers();
  for (const name of ['content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name', 'mcp-session-id']) {
    if (ctx.get(name) !== '') headers.set(name, ctx.get(name));
  }
  // The SDK compares texts: it would refuse `*/*` and a missing header, and accept `q=0`.
  headers.set('accept', ANSWERS.filter((type) => preferredType(ctx.get('Accept'), [type]) === type).join());
  return headers;
}

/** Pages of other origins send `Origin`; programs do not. */
function refuseOtherOrigins(ctx: HttpContext, { config }: Pick<RouteContext, 'config'>): void {
  const origin = ctx.get('Origin');
  if (origin === '' || config.corsOrigins.includes(origin) || URL.parse(origin)?.host === ctx.get('Host').toLowerCase())
    return;
  throw new CapstanError(
    'origin_not_allowed',
    `The Origin ${JSON.stringify(origin)} is not allowed: start the service with --cors-origins.`,
  );
}
