import { type Observable, takeUntil } from 'rxjs';
import { CapstanError } from '../../capture/errors.ts';
import { failureEnvelope } from '../answer/envelope.ts';
import { clientGone } from '../connection/client-gone.ts';
import { preferredLinesType } from '../request/negotiation.ts';
import type { HttpContext } from '../state.ts';

/** Returns undefined while the client keeps up; otherwise a promise that resolves when it has read what was sent. */
export type Room = () => Promise<void> | undefined;

/**
 * Answers with one line of JSON for each value, as soon as it is emitted. `run` is passed a `Room`, so that it starts
 * new work only while the client reads the answers, and a function that sends the head of the answer before the first
 * line.
 *
 * With `ctx.state.lines`, the lines are also collected there, and the middleware that set it ends the answer.
 *
 * An error before the head was sent is thrown and answered like any other. After it, the failure's envelope is the last
 * line and the response is aborted, so that clients can tell the answer is incomplete.
 */
export function answerLines<T>(ctx: HttpContext, run: (room: Room, begin: () => void) => Observable<T>): Promise<void> {
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
        'Content-Type': preferredLinesType(ctx.get('Accept')),
        // Otherwise nginx buffers the lines.
        'X-Accel-Buffering': 'no',
      });
      ctx.flushHeaders();
    };
    const send = (value: unknown): void => {
      begin();
      const line = `${JSON.stringify(value)}\n`;
      ctx.state.lines?.add(line);
      if (!res.write(line)) drained ??= Promise.withResolvers();
    };
    const onDrain = (): void => {
      drained?.resolve();
      drained = undefined;
    };
    res.on('drain', onDrain);
    res.once('close', onDrain);

    const subscription = run(() => drained?.promise, begin)
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
      if (!ended) reject(new CapstanError('cancelled', 'The client disconnected before the end of the answer.'));
    });
  });
}

function breakOff(ctx: HttpContext, thrown: unknown): void {
  const { res } = ctx;
  const error = CapstanError.from(thrown);
  if (res.writableNeedDrain || error.code === 'cancelled') res.destroy();
  else res.write(`${JSON.stringify(failureEnvelope(error, ctx.state.requestId))}\n`, () => res.destroy());
}
