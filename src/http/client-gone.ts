import { Observable } from 'rxjs';
import { CapstanError } from '../capture/errors.ts';
import type { HttpContext } from './state.ts';

/**
 * Errors with `cancelled` when the client goes away before it has its answer, and never does anything else: as the
 * notifier of `takeUntil` it ends the work that nobody waits for. It watches the connection, for the response of a
 * pipelined request is not told.
 */
export function clientGone(ctx: HttpContext): Observable<never> {
  return new Observable((subscriber) => {
    const { socket } = ctx.req;
    const onClose = () => subscriber.error(new CapstanError('cancelled', 'The client went away before the answer.'));
    if (socket.destroyed) return onClose();
    socket.once('close', onClose);
    return () => socket.off('close', onClose);
  });
}
