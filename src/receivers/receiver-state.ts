import { z } from 'zod';
import { AttemptSchema, type ReceiverTest } from '../capture/receiver.ts';
import type { Sent } from './pace.ts';
import type { Attempt } from './transport.ts';

/** What is stored about a receiver between messages. */
export interface ReceiverState {
  /** Number of messages that were dropped, and that it was not told of. */
  readonly dropped: number;
  readonly sent?: Sent | undefined;
  /** The last attempt, of receivers with a name. */
  readonly last?: z.output<typeof AttemptSchema> | undefined;
}

const StateSchema = z.object({
  dropped: z.int().nonnegative().catch(0),
  sent: z.object({ hour: z.int(), messages: z.int() }).optional(),
  last: AttemptSchema.optional(),
});

export function readState(text: string | undefined): ReceiverState {
  return text === undefined ? { dropped: 0 } : StateSchema.parse(JSON.parse(text));
}

/** Returns how an attempt ended. */
export function endOfAttempt(attempt: Attempt): ReceiverTest {
  const reason = attempt.end === 'delivered' ? null : attempt.reason;
  return { delivered: reason === null, status: attempt.status, reason };
}

export function attemptAt(at: number, attempt: Attempt): NonNullable<ReceiverState['last']> {
  return { at: new Date(at).toISOString(), ...endOfAttempt(attempt) };
}
