import { z } from 'zod';
import type { Immutable } from '../basics/immutable.ts';
import { duration, isTimeZone, SECOND_MS, UNITS_MS } from '../basics/time-fields.ts';
import { count, instant } from '../basics/values.ts';
import { apiKeyName } from '../named-key.ts';
import { objectError } from '../options/fields.ts';

/* Receivers of messages: chats, mail, and programs. Watches, standing queries and scans name them. */

/** Services that show messages to people. */
export const MESSENGERS = ['slack', 'discord', 'teams', 'ntfy', 'mail'] as const;
const RECEIVER_KINDS = ['webhook', ...MESSENGERS] as const;
export type ReceiverKind = (typeof RECEIVER_KINDS)[number];
/** The kind of a stored receiver that this version of the service cannot read. */
export const UNKNOWN_KIND = 'unknown';

export function isReceiverKind(text: string): text is ReceiverKind {
  return RECEIVER_KINDS.some((kind) => kind === text);
}

/** Names of what are no named receivers, in events and lists. */
const RESERVED_NAMES: readonly string[] = ['webhook', 'callback'];
/** Maximum number of receivers that one watch, query or scan names. */
const MAX_NOTIFIED = 10;
const MAX_ADDRESS_CHARACTERS = 2048;
const MAX_PER_HOUR = 3600;
const NAME = 'must be 1 to 64 letters, digits, dots, dashes and underscores, and begin with a letter or digit';
const QUIET = 'must be a time of the day and a time zone, such as "22:00-07:00 Europe/Berlin"';

export const receiverName = z.string({ error: NAME }).regex(/^[A-Za-z0-9][\w.-]{0,63}$/, { error: NAME });

export const notifyField = z
  .array(receiverName, { error: 'must be a list of names of receivers' })
  .max(MAX_NOTIFIED, { error: `must hold at most ${MAX_NOTIFIED} names` })
  .transform((names) => [...new Set(names)])
  .optional();

const quiet = z.string({ error: QUIET }).transform((text, context) => {
  const [, h1, m1, h2, m2, timeZone = 'UTC'] =
    /^([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d)(?:[ @](\S+))?$/.exec(text) ?? [];
  if (h1 !== undefined && isTimeZone(timeZone)) {
    return { from: Number(h1) * 60 + Number(m1), to: Number(h2) * 60 + Number(m2), timeZone };
  }
  context.addIssue({ code: 'custom', message: `${QUIET}, not ${JSON.stringify(text)}` });
  return z.NEVER;
});

/** When a receiver is sent messages, as it is written. */
const paceFields = {
  every: duration(60 * SECOND_MS, 7 * UNITS_MS.d, 'from 1m to 7d')
    .optional()
    .meta({
      description: 'Gathers messages, and sends one message for all of such an interval: `1h`.',
      examples: ['1h'],
    }),
  quiet: quiet.optional().meta({
    description: 'Hours in which nothing is sent. What waits is sent afterwards. The time zone is UTC by default.',
    examples: ['22:00-07:00 Europe/Berlin'],
  }),
  maxPerHour: z
    .int({ error: `must be an integer from 1 to ${MAX_PER_HOUR}` })
    .min(1, { error: 'must be 1 or more' })
    .max(MAX_PER_HOUR, { error: `must be ${MAX_PER_HOUR} or less` })
    .optional()
    .meta({ description: 'Maximum number of messages in an hour. The rest is one message of the next hour.' }),
} as const;
const PaceSchema = z.object(paceFields);
export type ReceiverPace = Immutable<z.output<typeof PaceSchema>>;

const newReceiver = {
  name: receiverName
    .refine((name) => !RESERVED_NAMES.includes(name), { error: `must not be one of ${RESERVED_NAMES.join(', ')}` })
    .meta({ description: 'By which watches, standing queries and scans name it in `notify`.', examples: ['team'] }),
  kind: z.enum(RECEIVER_KINDS, { error: `must be one of ${RECEIVER_KINDS.join(', ')}` }),
  address: z
    .string({ error: 'must be the address of the receiver' })
    .max(MAX_ADDRESS_CHARACTERS, { error: `must have at most ${MAX_ADDRESS_CHARACTERS} characters` })
    .meta({ description: 'Where messages are sent to. It is stored, and never answered.' }),
  ...paceFields,
};
export const NewReceiverSchema = z.strictObject(newReceiver, {
  error: objectError('a NewReceiver', Object.keys(newReceiver)),
});
export type NewReceiver = Immutable<z.output<typeof NewReceiverSchema>>;

/** The end of an attempt to send a message. */
const end = {
  delivered: z.boolean(),
  status: z.number().nullable().meta({ description: 'HTTP status of the answer; null without one.' }),
  reason: z.string().nullable().meta({ description: 'Why it was not delivered.' }),
};
export const ReceiverTestSchema = z.strictObject(end);
export type ReceiverTest = Immutable<z.output<typeof ReceiverTestSchema>>;

/** An attempt to send a message. */
export const AttemptSchema = z.strictObject({ at: instant, ...end });

/** A receiver, as it is answered. */
export const ReceiverSchema = z.strictObject({
  name: receiverName,
  kind: z.enum([...RECEIVER_KINDS, UNKNOWN_KIND]),
  problem: z.string().nullable().meta({
    description:
      'Why all messages to it are given up, for example because only a newer version knows its kind; null when they are sent.',
  }),
  host: z
    .string()
    .meta({ description: 'Host and port of its address. The rest is not answered: it may hold a secret.' }),
  is_operator: z.boolean().meta({ description: 'Whether the operator configured it, for all keys.' }),
  api_key_name: apiKeyName.meta({ description: 'Name of the API key that gave it.' }),
  every_ms: z.number().nullable(),
  quiet: z.string().nullable(),
  max_per_hour: z.number().nullable(),
  is_own: z.boolean().meta({ description: 'Whether the calling key gave it, and may remove it.' }),
  waiting: count.meta({ description: 'Messages that wait for it, as far as the calling key may see them.' }),
  dead: count.meta({ description: 'Messages to it that were given up, as far as the calling key may see them.' }),
  last: AttemptSchema.nullable().meta({ description: 'The last attempt to send it a message; null without one.' }),
});
export type ReceiverAnswer = Immutable<z.output<typeof ReceiverSchema>>;

/** A message that was given up. */
export const DeadLetterSchema = z.strictObject({
  id: z.string().meta({ description: 'Id of the message.' }),
  about: z.string().meta({ description: 'Type of the event.' }),
  at: instant.meta({ description: 'Time of the event.' }),
  attempts: count,
  reason: z.string().meta({ description: 'Why the last attempt failed.' }),
  status: z.number().nullable().meta({ description: 'HTTP status of the last answer; null without one.' }),
  position: z.int().meta({ description: 'Id of the event.' }),
  event: z.looseObject({}).meta({ description: 'The event.' }),
});
export type DeadLetter = Immutable<z.output<typeof DeadLetterSchema>>;

export function quietText({ from, to, timeZone }: NonNullable<ReceiverPace['quiet']>): string {
  const time = (minute: number) =>
    `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;
  return `${time(from)}-${time(to)} ${timeZone}`;
}
