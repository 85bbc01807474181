import { type Observable, takeUntil } from 'rxjs';
import { CapstanError } from '../../capture/errors.ts';
import { clientGone } from '../client-gone.ts';
import { failureEnvelope } from '../envelope.ts';
import type { HttpContext } from '../state.ts';
import { LINES_TYPE } from './streamed-body.ts';

/** Undefined while the client takes what is sent; else resolves when it has taken what it was sent. */
export type Room = () => Promise<void> | undefined;

/**
 * Answers with one line of JSON for each value, as soon as it is there. `run` is told when there is room for more:
 * what it begins only then is what a slow reader costs.
 *
 * Where the lines are collected (`ctx.state.lines`) the answer is left open, and ended by whoever collects them.
 *
 * What `run` errors with as it is subscribed to is thrown, and is an answer like any other. Later the head has been
 * sent: the last line is the envelope of the failure, and the connection is closed without the end of the body, so
 * that nobody takes what came for the whole.
 */
export function answerLines<T>(ctx: HttpContext, run: (room: Room) => Observable<T>): Promise<void> {
  const { res } = ctx;
  return new Promise((resolve, reject) => {
    let begun = false;
    let ended = false;
    let drained: PromiseWithResolvers<void> | undefined;

    const begin = (): void => {
      if (begun) return;
      begun = true;
      ctx.respond = false;
      ctx.status = 200;
      ctx.set({
        'Content-Type': LINES_TYPE,
        // Else nginx in front would keep the lines until it has many of them.
        'X-Accel-Buffering': 'no',
      });
      ctx.flushHeaders();
    };
    const send = (value: unknown): void => {
      begin();
      const line = `${JSON.stringify(value)}\n`;
      ctx.state.lines?.push(line);
      if (!res.write(line)) drained ??= Promise.withResolvers();
    };
    const onDrain = (): void => {
      drained?.resolve();
      drained = undefined;
    };
    res.on('drain', onDrain);
    res.once('close', onDrain);

    const subscription = run(() => drained?.promise)
      .pipe(takeUntil(clientGone(ctx)))
      .subscribe({
        next: send,
        error: (thrown: unknown) => {
          ended = true;
          if (begun) breakOff(ctx, thrown);
          reject(thrown);
        },
        complete: () => {
          ended = true;
          begin();
          if (ctx.state.lines === undefined) res.end();
          resolve();
        },
      });
    res.once('close', () => {
      subscription.unsubscribe();
      if (!ended) reject(new CapstanError('cancelled', 'The client went away before the end of its answer.'));
    });
    if (!ended) begin();
  });
}

function breakOff(ctx: HttpContext, thrown: unknown): void {
  const { res } = ctx;
  const error = thrown instanceof CapstanError ? thrown : new CapstanError('internal');
  if (res.writableNeedDrain || error.code === 'cancelled') res.destroy();
  else res.write(`${JSON.stringify(failureEnvelope(error, ctx.state.requestId))}\n`, () => res.destroy());
}
