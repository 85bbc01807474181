/**
 * Replaces an invalid `navigator.language`. On a system without a locale, Chromium reports `en-US@posix`, with which
 * uPlot fails to create a number format.
 */
export function ensureLanguage(): void {
  try {
    Intl.getCanonicalLocales(navigator.language);
  } catch {
    Object.defineProperty(navigator, 'language', { value: 'en-US' });
  }
}
