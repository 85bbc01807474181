import { z } from 'zod';
import { Faults, type HttpReceiver, jsonIn, startHttpReceiver } from './http-receiver.ts';

/*
 * The webhook of a Teams workflow, after https://learn.microsoft.com/connectors/teams/ (28 KB for a message) and
 * https://adaptivecards.io/explorer/.
 */

const MAX_BYTES = 28 * 1024;

const TextRun = z.strictObject({
  type: z.literal('TextRun'),
  text: z.string().min(1),
  weight: z.enum(['Lighter', 'Default', 'Bolder']).optional(),
  color: z.enum(['Default', 'Attention', 'Good', 'Warning', 'Accent']).optional(),
  isSubtle: z.boolean().optional(),
});
const Item = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('RichTextBlock'), inlines: z.array(TextRun).min(1) }),
  z.strictObject({ type: z.literal('TextBlock'), text: z.string(), wrap: z.boolean().optional() }),
  z.strictObject({
    type: z.literal('Image'),
    url: z.url({ protocol: /^https?$/ }),
    altText: z.string(),
    msteams: z.strictObject({ allowExpand: z.boolean() }).optional(),
  }),
]);
const Card = z.strictObject({
  $schema: z.string(),
  type: z.literal('AdaptiveCard'),
  version: z.enum(['1.0', '1.1', '1.2', '1.3', '1.4', '1.5']),
  msteams: z.strictObject({ width: z.literal('Full'), entities: z.array(z.unknown()).optional() }),
  body: z.array(Item),
  actions: z
    .array(z.strictObject({ type: z.literal('Action.OpenUrl'), title: z.string().min(1), url: z.url() }))
    .max(6),
});
const Message = z.strictObject({
  type: z.literal('message'),
  attachments: z
    .array(
      z.strictObject({
        contentType: z.literal('application/vnd.microsoft.card.adaptive'),
        contentUrl: z.null(),
        content: Card,
      }),
    )
    .length(1),
});
export type TeamsCard = z.output<typeof Card>;

export interface TeamsReceiver extends HttpReceiver {
  readonly url: URL;
  readonly cards: readonly TeamsCard[];
  readonly faults: Faults;
}

export async function startTeams(): Promise<TeamsReceiver> {
  const cards: TeamsCard[] = [];
  const faults = new Faults();
  const receiver = await startHttpReceiver(({ url, body }) => {
    const fault = faults.take();
    if (fault !== undefined) return fault;
    if (url.searchParams.get('sig') !== 'secret')
      return { status: 401, body: { error: { code: 'DirectApiAuthorizationRequired' } } };
    if (body.length > MAX_BYTES) return { status: 413, body: 'Request Entity too large' };
    const read = Message.safeParse(jsonIn(body));
    if (!read.success)
      return { status: 400, body: { error: { code: 'InvalidRequestContent', message: read.error.message } } };
    for (const { content } of read.data.attachments) cards.push(content);
    return { status: 202 };
  });
  return {
    ...receiver,
    url: new URL('/workflows/1/triggers/manual/paths/invoke?sig=secret', receiver.origin),
    cards,
    faults,
  };
}
