import type Router from '@koa/router';
import { CapstanError } from '../../capture/errors.ts';
import type { CaptureService } from '../../service/capture-service.ts';
import { createFanOut, type FanOutOptions } from '../live/fan-out.ts';
import { sendEvents } from '../live/subscription.ts';
import { parseSubscription } from '../schemas/events.ts';
import type { HttpState } from '../state.ts';

export type EventsOptions = FanOutOptions;

const DEFAULTS: EventsOptions = {
  // A minute of a busy service: who is behind by more comes back and reads it from the log.
  bufferBytes: 1024 * 1024,
  // Proxies close a connection that is silent for half a minute or more.
  keepAliveMs: 15_000,
};

/** What happens, as it happens. */
export function eventsRoutes(
  router: Router<HttpState>,
  { feed }: CaptureService,
  options: Partial<EventsOptions> = {},
): void {
  const fanOut = createFanOut(feed, { ...DEFAULTS, ...options });

  router.get('/events', async (ctx) => {
    const subscription = parseSubscription(ctx.querystring, ctx.get('Last-Event-ID'));
    if (feed.ended) throw new CapstanError('shutting_down');
    ctx.status = 200;
    ctx.set('Content-Type', 'text/event-stream');
    // nginx would gather what is sent.
    ctx.set('X-Accel-Buffering', 'no');
    if (ctx.method === 'HEAD') return;
    // It ends with its connection, and so needs no framing of its own.
    ctx.set('Connection', 'close');
    ctx.res.removeHeader('Transfer-Encoding');
    ctx.respond = false;
    ctx.res.flushHeaders();
    await sendEvents(ctx.res, subscription, feed, fanOut);
  });
}
