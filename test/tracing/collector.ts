import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { listening } from '../egress/listening.ts';

const Value = z.object({ stringValue: z.string().optional(), intValue: z.number().optional() });
const Span = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
  startTimeUnixNano: z.coerce.bigint(),
  endTimeUnixNano: z.coerce.bigint(),
  attributes: z.array(z.object({ key: z.string(), value: Value })).default([]),
  status: z.object({ code: z.number().optional() }).default({}),
});
const Export = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes: z.array(z.object({ key: z.string(), value: Value })) }),
      scopeSpans: z.array(z.object({ spans: z.array(Span) })),
    }),
  ),
});

export interface ReceivedSpan {
  readonly trace: string;
  readonly id: string;
  readonly parent: string | undefined;
  readonly name: string;
  /** Nanoseconds. */
  readonly start: bigint;
  readonly end: bigint;
  readonly attributes: Readonly<Record<string, string | number | undefined>>;
  readonly isError: boolean;
}

export interface Collector extends AsyncDisposable {
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  readonly paths: ReadonlySet<string>;
  /** Values of `service.instance.id`. */
  readonly instances: ReadonlySet<string>;
}

/** Starts a receiver of OTLP over HTTP, in JSON. */
export async function startCollector(): Promise<Collector> {
  const spans: ReceivedSpan[] = [];
  const paths = new Set<string>();
  const instances = new Set<string>();
  const server = createServer(async (request, response) => {
    paths.add(`${request.method} ${request.url} ${request.headers['content-type']}`);
    const { resourceSpans } = Export.parse(JSON.parse(await text(request)));
    for (const { resource } of resourceSpans) {
      const instance = resource.attributes.find(({ key }) => key === 'service.instance.id');
      instances.add(instance?.value.stringValue ?? '');
    }
    const received = resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
    spans.push(
      ...received.map((span) => ({
        trace: span.traceId,
        id: span.spanId,
        parent: span.parentSpanId,
        name: span.name,
        start: span.startTimeUnixNano,
        end: span.endTimeUnixNano,
        attributes: Object.fromEntries(
          span.attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue]),
        ),
        isError: span.status.code === 2,
      })),
    );
    response.setHeader('Content-Type', 'application/json').end('{}');
  });
  const { port, ...disposable } = await listening(server);
  return { url: `http://127.0.0.1:${port}`, spans, paths, instances, ...disposable };
}
