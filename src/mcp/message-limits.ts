import { REQUEST_LIMITS } from '../capture/request-limits.ts';

/** Answers repeat these texts. */
export const BOUNDED_TEXTS = 'ids, progress tokens, and the names and versions of methods and clients';
export const TOO_LONG = `must have at most ${REQUEST_LIMITS.names.max} characters`;

const OF_CLIENT = ['name', 'title', 'version'];
/** Paths of the texts of a message that are bounded. */
const BOUNDED: readonly (readonly string[])[] = [
  ['id'],
  ['method'],
  ['params', 'requestId'],
  ['params', 'progressToken'],
  ['params', '_meta', 'progressToken'],
  ...OF_CLIENT.map((name) => ['params', 'clientInfo', name]),
  ...OF_CLIENT.map((name) => ['params', '_meta', 'io.modelcontextprotocol/clientInfo', name]),
];

export function isTooLong(text: string): boolean {
  return text.length > REQUEST_LIMITS.names.max;
}

/** Returns the path of a text of the message that is too long; undefined when none is. */
export function tooLongIn(message: unknown): readonly string[] | undefined {
  return BOUNDED.find((path) => {
    const text = path.reduce<unknown>((value, name) => Object(value)[name], message);
    return typeof text === 'string' && isTooLong(text);
  });
}
