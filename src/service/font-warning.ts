import type { CaptureActor } from '../actors/capture-actor.ts';
import { fontAdvice } from '../actors/missing-scripts.ts';
import type { Logger } from '../log.ts';

/** Logs which scripts the browser draws as boxes. Asks the browser only when the log takes warnings. */
export async function warnOfMissingFonts(actor: Pick<CaptureActor, 'missingScripts'>, logger: Logger): Promise<void> {
  if (!logger.isLevelEnabled('warn')) return;
  // Without a browser nothing is known of its fonts, and the log has the cause.
  const advice = fontAdvice(await actor.missingScripts().catch(() => []));
  if (advice !== undefined) logger.warn(advice);
}
