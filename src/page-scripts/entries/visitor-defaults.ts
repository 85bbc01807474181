import { web } from '../web.ts';

/** Returns the visitor's language, and the language and the time zone of formats. */
export function run(): { readonly language: string; readonly formats: string; readonly timeZone: string } {
  const { locale, timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  return { language: web.navigator.language, formats: locale, timeZone };
}
