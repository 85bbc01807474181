import type { SharedLink } from '../../storage/ports/shared-link-store.ts';
import { signedTarget } from '../signed-link.ts';

export const NO_SIGNING_KEY =
  'Nothing can be shared: the service was started without --signing-key, with which links are signed.';

/** Images that the page of a link shows. */
export const PARTS = ['image', 'other', 'difference'] as const;
export type Part = (typeof PARTS)[number];

/** Returns the path and query of a shared link, or of an image of its page. */
export function linkOf(
  { id, expiresAt }: Pick<SharedLink, 'id' | 'expiresAt'>,
  signingKey: string,
  part?: Part,
): string {
  return signedTarget(`/shared/${id}${part === undefined ? '' : `/${part}`}`, expiresAt / 1000, signingKey);
}
