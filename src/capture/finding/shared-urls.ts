import { randomBytes } from 'node:crypto';
import { signedTarget } from './signed-link.ts';

export const NO_SIGNING_KEY =
  'Nothing can be shared: the service was started without --signing-key, with which links are signed.';

/** Images that the page of a link shows. */
export const PARTS = ['image', 'other', 'difference'] as const;
export type Part = (typeof PARTS)[number];

/** Ids increase with time, so that lists by id are lists by time. The random part makes the link one of its own. */
export function newLinkId(now: number): string {
  return linkIdOf(now, randomBytes(12).toString('hex'));
}

/** Returns the id of a link of a time, in milliseconds since 1970, which hexadecimal digits tell from others. */
export function linkIdOf(time: number, digits: string): string {
  return `${time.toString(36).padStart(9, '0')}-${digits}`;
}

/** Returns the path and query of a shared link, or of an image of its page. */
export function linkOf(
  { id, expiresAt }: { readonly id: string; readonly expiresAt: number },
  signingKey: string,
  part?: Part,
): string {
  return signedTarget(`/shared/${id}${part === undefined ? '' : `/${part}`}`, expiresAt / 1000, signingKey);
}
