import type { CaptureActor } from '../actors/capture-actor.ts';
import { fontAdvice } from '../actors/missing-scripts.ts';
import type { Logger } from '../log/log.ts';

/** Logs which scripts the browser draws as boxes. Asks the browser only when warnings are logged. */
export async function warnOfMissingFonts(actor: Pick<CaptureActor, 'missingScripts'>, logger: Logger): Promise<void> {
  if (!logger.isLevelEnabled('warn')) return;
  // A browser that cannot be started is logged elsewhere, and its fonts are unknown.
  const advice = fontAdvice(await actor.missingScripts().catch(() => []));
  if (advice !== undefined) logger.warn(advice);
}
