import { REQUEST_LIMITS } from '../../capture/request-limits.ts';
import { refusal } from '../../capture/validate.ts';

const MAX_VALUES = REQUEST_LIMITS.bodyValues.max;
/** Deeper than any field; what reads values calls itself for each level. */
const MAX_DEPTH = 200;

/**
 * Parses JSON with few values. With many, `JSON.parse` takes long and cannot be interrupted; objects with ever new
 * names take longest.
 *
 * @throws SyntaxError when the text is not JSON, CapstanError `invalid_request` when it has too many values.
 */
export function parseJson(json: string): unknown {
  if (isLarge(json)) {
    const values = `at most ${MAX_VALUES} names, list elements, lists and objects`;
    throw refusal([{ path: '', message: `must have ${values}, and at most ${MAX_DEPTH} levels` }]);
  }
  return JSON.parse(json);
}

/** Counts the punctuation outside of texts: a colon for each name, a comma or bracket for each element. */
function isLarge(json: string): boolean {
  let values = 0;
  let depth = 0;
  for (let at = 0; at < json.length; at += 1) {
    switch (json.charCodeAt(at)) {
      case 0x22: // "
        at = endOfText(json, at);
        break;
      case 0x5b: // [
      case 0x7b: // {
        depth += 1;
        values += 1;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth -= 1;
        break;
      case 0x2c: // ,
      case 0x3a: // :
        values += 1;
    }
    if (values > MAX_VALUES || depth > MAX_DEPTH) return true;
  }
  return false;
}

/** Returns where the text that begins at a quote ends: at its second quote, or at the end of the JSON. */
function endOfText(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end !== -1; end = json.indexOf('"', end + 1)) {
    let escapes = end;
    while (json.charAt(escapes - 1) === '\\') escapes -= 1;
    if ((end - escapes) % 2 === 0) return end;
  }
  return json.length;
}
