import type { TextBeginning } from '../page-scripts/in-parts.ts';
import type { Call } from './page-scripts.ts';
import { partsOf } from './text-in-parts.ts';

/** Maximum number of bytes of a UTF-16 code unit in UTF-8. */
const MAX_UNIT_BYTES = 3;

/**
 * Resolves with the whole document: as text, or in UTF-8 when it must be read in parts. Undefined when the document
 * was replaced meanwhile.
 */
export async function wholeHtml(
  beginning: TextBeginning,
  ask: (part: Call) => Promise<unknown>,
): Promise<string | Uint8Array | undefined> {
  if (beginning.text.length === beginning.length) return beginning.text;
  // The system provides memory only when it is written to.
  const content = Buffer.allocUnsafeSlow(beginning.length * MAX_UNIT_BYTES);
  let bytes = 0;
  for await (const part of partsOf(beginning, ask)) {
    if (part === undefined) return undefined;
    bytes += content.write(part, bytes);
  }
  return content.subarray(0, bytes);
}
