import { web } from '../web.ts';

/** Allows strings for sinks that require trusted types; does nothing when the page does not allow that policy. */
export function run(): void {
  const same = (text: string) => text;
  try {
    web.trustedTypes?.createPolicy('default', { createHTML: same, createScript: same, createScriptURL: same });
  } catch {}
}
