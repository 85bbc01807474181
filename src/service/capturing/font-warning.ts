import type { Actors } from '../../actors/actors.ts';
import { fontAdvice } from '../../actors/checks/missing-scripts.ts';
import type { Logger } from '../../log/log.ts';

/** Logs which scripts the browser draws as boxes. Asks the browser only when warnings are logged. */
export async function warnOfMissingFonts(actors: Pick<Actors, 'missingScripts'>, logger: Logger): Promise<void> {
  if (!logger.isLevelEnabled('warn')) return;
  // A browser that cannot be started is logged elsewhere, and its fonts are unknown.
  const advice = fontAdvice(await actors.missingScripts().catch(() => []));
  if (advice !== undefined) logger.warn(advice);
}
