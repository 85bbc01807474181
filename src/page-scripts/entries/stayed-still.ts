import { pause } from '../pause.ts';
import { keptWatch } from '../still.ts';
import { QUIET_MS } from '../watch-changes.ts';
import { web } from '../web.ts';

/** Resolves with whether nothing has changed for `QUIET_MS` since `look-still` began. */
export async function run(): Promise<boolean> {
  const { beginning, changes } = keptWatch();
  // Another document has come since.
  if (changes === undefined) return false;
  await pause(Math.max(0, beginning + QUIET_MS - web.performance.now()));
  const isStill = changes.noticed().count === 0;
  changes.end();
  return isStill;
}
