/* Reads the answers of a store, whose keys and codes need no decoding: all are of letters, digits and `/._-`. */

/** The contents of all elements of this name. */
export function allIn(xml: string, name: string): readonly string[] {
  return xml
    .split(`<${name}>`)
    .slice(1)
    .map((part) => part.slice(0, part.indexOf(`</${name}>`)));
}

/** The content of the first element of this name; empty without one. */
export function textIn(xml: string, name: string): string {
  return allIn(xml, name)[0] ?? '';
}
