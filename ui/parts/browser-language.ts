/**
 * Gives the browser a language that is one: where its system has no locale, Chromium says `en-US@posix`, of which uPlot
 * could make no format of numbers.
 */
export function ensureLanguage(): void {
  try {
    Intl.getCanonicalLocales(navigator.language);
  } catch {
    Object.defineProperty(navigator, 'language', { value: 'en-US' });
  }
}
