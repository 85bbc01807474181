/** Maximum number of characters of ids, progress tokens, and the names of methods and clients: answers repeat them. */
export const MAX_NAME_CHARACTERS = 256;

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

/** Returns the path of a text of the message that is too long; undefined when none is. */
export function tooLongIn(message: unknown): readonly string[] | undefined {
  return BOUNDED.find((path) => {
    const text = path.reduce<unknown>((value, name) => Object(value)[name], message);
    return typeof text === 'string' && text.length > MAX_NAME_CHARACTERS;
  });
}
