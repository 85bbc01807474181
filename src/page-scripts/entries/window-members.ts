import { web } from '../dom/web.ts';

/** Allows strings for sinks that require trusted types; does nothing when the page does not allow that policy. */
export function takeStrings(): void {
  const same = (text: string) => text;
  try {
    web.trustedTypes?.createPolicy('default', { createHTML: same, createScript: same, createScriptURL: same });
  } catch {}
}

/** Removes the names of client hints from a document, which Safari and Firefox do not define. */
export function removeClientHints(): void {
  const navigator: unknown = Reflect.get(globalThis, 'Navigator');
  if (typeof navigator === 'function') Reflect.deleteProperty(navigator.prototype, 'userAgentData');
  Reflect.deleteProperty(globalThis, 'NavigatorUAData');
}
