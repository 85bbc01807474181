import { Observable } from 'rxjs';
import { CapstanError } from '../../capture/errors.ts';
import type { HttpContext } from '../state.ts';

/**
 * Errors with `cancelled` when the client disconnects before its answer, and emits nothing else: as the notifier of
 * `takeUntil` it cancels the work. It watches the connection, because the response of a pipelined request gets no
 * event.
 */
export function clientGone(ctx: HttpContext): Observable<never> {
  return new Observable((subscriber) => {
    const { socket } = ctx.req;
    const onClose = () => subscriber.error(new CapstanError('cancelled', 'The client disconnected before the answer.'));
    if (socket.destroyed) return onClose();
    socket.once('close', onClose);
    return () => socket.off('close', onClose);
  });
}

/** Returns a signal that is aborted, with `cancelled`, when the client disconnects, until `release` is called. */
export function goneSignal(ctx: HttpContext): { readonly gone: AbortSignal; readonly release: () => void } {
  const controller = new AbortController();
  const watching = clientGone(ctx).subscribe({ error: (reason) => controller.abort(reason) });
  return { gone: controller.signal, release: () => watching.unsubscribe() };
}
