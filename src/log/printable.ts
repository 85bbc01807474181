import { stripVTControlCharacters } from 'node:util';

/*
 * Text of a page must not send commands to the terminal, or hide what it is: commands print it through these functions.
 */

/** Line feeds in texts are escaped before. */
const UNPRINTABLE_IN_JSON = /[[\p{Cc}\p{Cf}\u2028\u2029]--\n]/gv;
const UNPRINTABLE_IN_LINES = /[[\p{Cc}\p{Cf}\u2028\u2029]--[\n\t]]+/gv;

/** Returns a text without control characters and invisible ones, as one line. */
export function oneLine(text: string): string {
  return printable(text)
    .replace(/[\n\t]+/g, ' ')
    .trimEnd();
}

/** Returns a text with a space for each control or invisible character, except tabs and line feeds. */
export function printable(text: string): string {
  return stripVTControlCharacters(text).replace(UNPRINTABLE_IN_LINES, ' ');
}

/**
 * As `JSON.stringify`, which leaves most of these characters as they are: they are escaped. `indent`: spaces a level.
 */
export function printableJson(value: unknown, indent = 0): string {
  return JSON.stringify(value, null, indent).replace(UNPRINTABLE_IN_JSON, (character) =>
    Array.from({ length: character.length }, (_, at) => escaped(character.charCodeAt(at))).join(''),
  );
}

function escaped(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`;
}
