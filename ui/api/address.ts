/**
 * The path below which a proxy serves the service, such as `/capstan`; mostly `''`. The interface is at `/ui` below it.
 */
export const PREFIX = /^(.*)\/ui(?:\/|$)/.exec(location.pathname)?.[1] ?? '';

/** Returns the address of a path of the service, for links and images. */
export function addressOf(path: string): string {
  return PREFIX + path;
}
