import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { makeDirectory } from './temporary-directory.ts';

const pdfjs = dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json'));

/** A font for the Latin, Greek and Cyrillic scripts. */
export const LATIN_FONT = join(pdfjs, 'standard_fonts', 'LiberationSans-Regular.ttf');
/** The font of the Debian package fonts-noto-color-emoji. */
export const EMOJI_FONT = '/usr/share/fonts/truetype/noto/NotoColorEmoji.ttf';

/** Writes a configuration of fontconfig with which a browser finds the given fonts and no others; returns its path. */
export async function fontconfigWith(...fonts: string[]): Promise<string> {
  const directory = await makeDirectory();
  // A browser that root starts runs as another user, who must be able to read the directory.
  const folder = join(directory, 'fonts');
  await mkdir(folder);
  for (const font of fonts) await copyFile(font, join(folder, basename(font)));
  const file = join(directory, 'fonts.conf');
  await writeFile(file, `<fontconfig><dir>${folder}</dir><cachedir>${directory}/cache</cachedir></fontconfig>\n`);
  return file;
}
