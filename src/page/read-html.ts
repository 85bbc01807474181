import { IN_PARTS, partsOf, type TextBeginning } from './text-in-parts.ts';

/** Maximum number of characters of a serialised document. A hostile page can grow without end; real pages do not. */
const MAX_CHARACTERS = 32 * 1024 * 1024;
/** Maximum number of bytes of a UTF-16 code unit in UTF-8. */
const MAX_UNIT_BYTES = 3;

/** Runs in the page. Serialises the document, and returns its beginning as `IN_PARTS` does. */
export const SERIALISE = `() => {
  const doctype = document.doctype ? new XMLSerializer().serializeToString(document.doctype) + '\\n' : '';
  const html = doctype + (document.documentElement ? document.documentElement.outerHTML : '');
  return (${IN_PARTS})(html.slice(0, ${MAX_CHARACTERS}).toWellFormed());
}`;

/**
 * Resolves with the whole document: as text, or in UTF-8 when it must be read in parts. Undefined when the document
 * was replaced meanwhile.
 */
export async function wholeHtml(
  beginning: TextBeginning,
  evaluate: (expression: string) => Promise<unknown>,
): Promise<string | Uint8Array | undefined> {
  if (beginning.text.length === beginning.length) return beginning.text;
  // The system provides memory only when it is written to.
  const content = Buffer.allocUnsafeSlow(beginning.length * MAX_UNIT_BYTES);
  let bytes = 0;
  for await (const part of partsOf(beginning, evaluate)) {
    if (part === undefined) return undefined;
    bytes += content.write(part, bytes);
  }
  return content.subarray(0, bytes);
}
