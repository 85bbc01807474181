/* Texts that people wrote with the programs of their system. */

const ENCODINGS = [
  { mark: [0xff, 0xfe], encoding: 'utf-16le' },
  { mark: [0xfe, 0xff], encoding: 'utf-16be' },
] as const;

/**
 * Returns the text of a file: UTF-8, or UTF-16 with a byte order mark, which `>` of Windows PowerShell writes. The
 * mark, which Notepad also writes before UTF-8, is left out.
 */
export function decodeText(bytes: Uint8Array): string {
  const { encoding = 'utf-8' } = ENCODINGS.find(({ mark }) => mark.every((byte, at) => bytes[at] === byte)) ?? {};
  return new TextDecoder(encoding).decode(bytes);
}
