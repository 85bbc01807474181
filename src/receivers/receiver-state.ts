import { z } from 'zod';
import type { Sent } from './pace.ts';

/** What is stored about a receiver between messages. */
export interface ReceiverState {
  /** Number of messages that were dropped, and that it was not told of. */
  readonly dropped: number;
  readonly sent?: Sent | undefined;
}

const StateSchema = z.object({
  dropped: z.int().nonnegative(),
  sent: z.object({ hour: z.int(), messages: z.int() }).optional(),
});

export function readState(text: string | undefined): ReceiverState {
  return text === undefined ? { dropped: 0 } : StateSchema.parse(JSON.parse(text));
}
