import { firstValueFrom, takeUntil } from 'rxjs';
import type { ServiceView } from '../../service/capture-service.ts';
import { clientGone } from '../connection/client-gone.ts';
import type { HttpContext } from '../state.ts';

/** Checks the callback of a job, whose captures start after the answer. */
export async function admitCallback(
  ctx: HttpContext,
  service: ServiceView,
  callback: string | undefined,
): Promise<void> {
  if (callback === undefined) return;
  await firstValueFrom(service.admitCallback(callback).pipe(takeUntil(clientGone(ctx))));
}
