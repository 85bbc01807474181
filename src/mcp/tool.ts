import type { CallToolResult, McpServer, ServerContext, StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import type { z } from 'zod';
import { type Api, ApiFailure } from './api.ts';

/** Annotations of tools, by which a client decides whether to ask its user before a call. */
export const READS = { readOnlyHint: true, openWorldHint: false };
export const CAPTURES = { readOnlyHint: false, destructiveHint: false, openWorldHint: true };

/** A tool: what agents read about it, and the requests to the HTTP API that it makes. */
export interface Tool<Input> {
  readonly title: string;
  readonly description: string;
  readonly inputSchema: z.ZodType<Input>;
  readonly outputSchema: z.ZodObject;
  readonly annotations: Readonly<Record<string, boolean>>;
  readonly run: (api: Api, input: Input, signal: AbortSignal) => Promise<CallToolResult>;
}

/** Interval of notifications of progress, in milliseconds. */
const PROGRESS_MS = 1_000;

/** Returns a function that adds a tool to a server. */
export function tool<Input>(name: string, { run, ...shown }: Tool<Input>) {
  return (server: McpServer, api: Api, isReading: () => boolean): void => {
    const inputSchema = withoutNulls(shown.inputSchema);
    server.registerTool(name, { ...shown, inputSchema }, (input, context) =>
      answered(context, isReading, (signal) => run(api, input, signal)),
    );
  };
}

/** Reads null as an argument that is left out, as clients send it for optional ones. */
function withoutNulls<Input>(schema: z.ZodType<Input>): StandardSchemaWithJSON<unknown, Input> {
  const standard = schema['~standard'];
  return {
    '~standard': { ...standard, validate: (given: unknown) => standard.validate(present(given)) },
  };
}

function present(given: unknown): unknown {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return given;
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
}

/**
 * Tells the client of progress while the work goes on and the client reads, and of a failure in words. Without the
 * pause, notifications would pile up, and a client that has stalled would never be disconnected.
 */
async function answered(
  { mcpReq: { signal, _meta, notify } }: ServerContext,
  isReading: () => boolean,
  work: (signal: AbortSignal) => Promise<CallToolResult>,
): Promise<CallToolResult> {
  const progressToken = _meta?.progressToken;
  const startedAt = performance.now();
  const tell = () => {
    if (progressToken === undefined || !isReading()) return;
    const progress = Math.round(performance.now() - startedAt) / 1000;
    const params = { progressToken, progress, message: 'seconds since the call' };
    notify({ method: 'notifications/progress', params }).catch(() => undefined);
  };
  tell();
  const telling = setInterval(tell, PROGRESS_MS);
  try {
    return await work(signal);
  } catch (error) {
    if (signal.aborted) throw error;
    const { message } = error instanceof ApiFailure ? error : new ApiFailure('internal', '');
    return { isError: true, content: [{ type: 'text', text: message }] };
  } finally {
    clearInterval(telling);
  }
}
