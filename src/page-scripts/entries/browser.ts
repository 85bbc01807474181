import { web } from '../dom/web.ts';

/** Returns the visitor's language, and the language and the time zone of formats. */
export function visitorDefaults(): { readonly language: string; readonly formats: string; readonly timeZone: string } {
  const { locale, timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  return { language: web.navigator.language, formats: locale, timeZone };
}

/** A private-use character that no font has. */
const UNKNOWN = '\u{10FFFD}';

/** Returns the characters that are drawn as boxes: those that look like a character that no font has. */
export function findBoxes(characters: readonly string[]): string[] {
  const context = new web.OffscreenCanvas(64, 48).getContext('2d', { willReadFrequently: true });
  context.font = '32px sans-serif';
  const draw = (character: string) => {
    context.clearRect(0, 0, 64, 48);
    context.fillText(character, 4, 36);
    return context.getImageData(0, 0, 64, 48).data.join();
  };
  const box = draw(UNKNOWN);
  return characters.filter((character) => draw(character) === box);
}
