/** Returns the code of an error of Node.js or of a library, such as `ENOSPC`; undefined when it has none. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
