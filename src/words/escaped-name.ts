/** Returns the name of an element as selectors have it: word processors write `o:p`, and a page any character. */
export function escapedName(name: string): string {
  return name.replace(/^[\d-]|[^\w\u00b0-\uffff-]|[\p{Cf}\p{Z}]/gu, (character) =>
    /[!-/:-@[-`{-~]/.test(character)
      ? `\\${character}`
      : `\\${character.codePointAt(0)?.toString(16).padStart(6, '0')}`,
  );
}
