import { firstValueFrom, takeUntil } from 'rxjs';
import type { ServiceView } from '../../service/capture-service.ts';
import { clientGone } from '../connection/client-gone.ts';
import type { HttpContext } from '../state.ts';

/** Checks a callback before the head of the answer is sent: afterwards, a refusal could not change the status. */
export async function admitCallback(
  ctx: HttpContext,
  service: ServiceView,
  callback: string | undefined,
): Promise<void> {
  if (callback === undefined) return;
  await firstValueFrom(service.admitCallback(callback).pipe(takeUntil(clientGone(ctx))));
}
