import { web } from '../web.ts';

/** A private-use character that no font has. */
const UNKNOWN = '\u{10FFFD}';

/** Returns the characters that are drawn as boxes: those that look like a character that no font has. */
export function run(characters: readonly string[]): string[] {
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
