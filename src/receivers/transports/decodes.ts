/** Says of an address that its credentials do not decode. */
export const NOT_ENCODED = 'has a user or password that is not percent-encoded';

/** Whether a part of a URL is percent-encoded UTF-8. */
export function decodes(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
