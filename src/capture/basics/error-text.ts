/** Returns the text of what was thrown. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
