import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import {
  type Context,
  DiagLogLevel,
  defaultTextMapGetter,
  diag,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import type { Observable } from 'rxjs';
import type { CapstanEvent } from '../capture/events.ts';
import { packageVersion } from '../version.ts';
import { followEvents } from './follow-events.ts';

/** A request as it begins. */
interface TracedRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** A request as it ends. */
interface TracedAnswer {
  /** Path of its route, such as `/results/{id}`; undefined when there is none. */
  readonly route: string | undefined;
  readonly status: number;
}

/** Time limits for sending, in milliseconds: an unreachable collector must not delay the stop of the service. */
const EXPORT_MS = 3_000;
const FLUSH_MS = 1_000;

/** `url`: OTLP/HTTP collector; `/v1/traces` is appended to a URL without a path. `warn`: called for failed exports. */
export function openTracing(url: string, warn: (text: string) => void) {
  const ignore = (): void => {};
  diag.setLogger(
    {
      error: (text) => warn(`traces cannot be sent: ${text}`),
      warn: ignore,
      info: ignore,
      debug: ignore,
      verbose: ignore,
    },
    DiagLogLevel.ERROR,
  );
  const exporter = new OTLPTraceExporter({ url: tracesUrl(url), timeoutMillis: EXPORT_MS });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      'service.name': 'capstan',
      'service.version': packageVersion(),
      // Tells the nodes of a cluster apart, and a process from the one before it.
      'service.instance.id': randomUUID(),
    }),
    spanProcessors: [new BatchSpanProcessor({ exporter, scheduledDelayMillis: FLUSH_MS })],
  });
  const tracer = provider.getTracer('capstan');
  const propagator = new W3CTraceContextPropagator();
  const active = new AsyncLocalStorage<Context>();

  return {
    /**
     * Runs a request in a span, which continues the trace of the request's `traceparent`. Spans started by `work` are
     * children of this span. The span ends when `answered` resolves.
     */
    request<T>(request: TracedRequest, answered: Promise<TracedAnswer>, work: () => T): T {
      const parent = propagator.extract(ROOT_CONTEXT, request.headers, defaultTextMapGetter);
      const span = tracer.startSpan(
        request.method,
        { kind: SpanKind.SERVER, attributes: { 'http.request.method': request.method } },
        parent,
      );
      void answered.then(({ route, status }) => {
        if (route !== undefined) span.updateName(`${request.method} ${route}`).setAttribute('http.route', route);
        span.setAttribute('http.response.status_code', status);
        if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
        span.end();
      });
      return active.run(trace.setSpan(parent, span), work);
    },
    /** Makes spans of the captures and messages of these events. */
    follow(events$: Observable<CapstanEvent>) {
      followEvents(events$, tracer, () => active.getStore() ?? ROOT_CONTEXT);
    },
    /** Sends the remaining spans, for at most a few seconds. */
    async close() {
      await provider.shutdown().catch(() => undefined);
    },
  };
}

function tracesUrl(given: string): string {
  const url = new URL(given);
  if (url.pathname === '/') url.pathname = '/v1/traces';
  return url.href;
}
