import type { CdpSession } from '../../cdp/connection.ts';

/** The protocol session of a page, whichever driver opened it. */
export type PageSession = Pick<CdpSession, 'send' | 'sendForShort' | 'shoot' | 'archive' | 'post' | 'on'>;

/** A frame, and the session of the process that it runs in. */
export interface EvaluatedFrame {
  readonly session: PageSession;
  readonly frame: { readonly id: string };
}
