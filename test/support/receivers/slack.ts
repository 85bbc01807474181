import { z } from 'zod';
import { Faults, type Got, type HttpReceiver, jsonIn, startHttpReceiver } from './http-receiver.ts';

/*
 * Slack's incoming webhooks and the methods of its Web API that post a message, after
 * https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks/,
 * https://docs.slack.dev/reference/block-kit/blocks/,
 * https://docs.slack.dev/reference/methods/files.completeUploadExternal and
 * https://docs.slack.dev/reference/methods/chat.postMessage.
 */

const style = z.strictObject({ bold: z.boolean().optional() }).optional();
const Element = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: z.string().min(1), style }),
  z.strictObject({ type: z.literal('link'), url: z.url(), text: z.string().optional(), style }),
  z.strictObject({ type: z.literal('emoji'), name: z.string() }),
  z.strictObject({ type: z.literal('broadcast'), range: z.enum(['here', 'channel', 'everyone']) }),
  z.strictObject({ type: z.literal('user'), user_id: z.string() }),
]);
const Block = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('rich_text'),
    elements: z.array(z.strictObject({ type: z.literal('rich_text_section'), elements: z.array(Element) })),
  }),
  z.strictObject({ type: z.literal('image'), image_url: z.url().max(3000), alt_text: z.string().max(2000) }),
]);
const Blocks = z.array(Block).max(50);
const MAX_BLOCKS_CHARACTERS = 13_000;

export type SlackBlock = z.output<typeof Block>;

export interface SlackMessage {
  readonly text: string;
  /** Whether `text` is markup. */
  readonly mrkdwn: boolean;
  readonly blocks: readonly SlackBlock[];
  readonly files: readonly Buffer[];
}

export interface SlackReceiver extends HttpReceiver {
  readonly url: URL;
  readonly api: URL;
  readonly messages: readonly SlackMessage[];
  readonly faults: Faults;
  /** Names of the methods and webhooks that were called. */
  readonly called: readonly string[];
}

export const SLACK_TOKEN = 'xoxb-1-token';
export const SLACK_CHANNEL = 'C0123456789';

export interface SlackOptions {
  readonly scopes?: readonly string[];
  /** Whether Slack can load an image from there. @default every image */
  readonly loads?: (url: string) => boolean;
}

export async function startSlack({
  scopes = ['chat:write', 'files:write'],
  loads = () => true,
}: SlackOptions = {}): Promise<SlackReceiver> {
  const messages: SlackMessage[] = [];
  const called: string[] = [];
  const faults = new Faults();
  const uploads = new Map<string, Buffer | undefined>();
  let origin = '';

  const problemOf = (blocks: unknown): string | undefined => {
    const read = Blocks.safeParse(blocks);
    if (!read.success) return 'invalid_blocks';
    if (JSON.stringify(blocks).length > MAX_BLOCKS_CHARACTERS) return 'msg_blocks_too_long';
    return read.data.some((block) => block.type === 'image' && !loads(block.image_url)) ? 'invalid_blocks' : undefined;
  };

  const hook = ({ body, headers }: Got) => {
    const payload = jsonIn(body);
    const read = z
      .strictObject({
        text: z.string(),
        blocks: z.unknown(),
        mrkdwn: z.boolean().default(true),
        unfurl_links: z.boolean(),
        unfurl_media: z.boolean(),
      })
      .safeParse(payload);
    if (!read.success || !headers['content-type']?.startsWith('application/json'))
      return { status: 400, body: 'invalid_payload' };
    const { text, mrkdwn, blocks } = read.data;
    if (text === '' && blocks === undefined) return { status: 400, body: 'no_text' };
    const problem = problemOf(blocks);
    if (problem !== undefined) return { status: 400, body: problem };
    messages.push({ text, mrkdwn, blocks: Blocks.parse(blocks), files: [] });
    return { status: 200, body: 'ok' };
  };

  const method = (name: string, { body, headers }: Got) => {
    const no = (error: string) => ({ status: 200, body: { ok: false, error } });
    if (headers.authorization === undefined) return no('not_authed');
    if (headers.authorization !== `Bearer ${SLACK_TOKEN}`) return no('invalid_auth');
    if (!scopes.includes(name.startsWith('files.') ? 'files:write' : 'chat:write')) return no('missing_scope');
    const fields = new URLSearchParams(body.toString());
    if (name === 'files.getUploadURLExternal') {
      if (!/^[1-9]\d*$/.test(fields.get('length') ?? '') || fields.get('filename') === null)
        return no('invalid_arguments');
      const id = `F${uploads.size + 1}`;
      uploads.set(id, undefined);
      return { status: 200, body: { ok: true, upload_url: `${origin}/upload/${id}`, file_id: id } };
    }
    const channel = fields.get('channel_id') ?? fields.get('channel');
    if (channel !== SLACK_CHANNEL) return no('channel_not_found');
    const blocks: unknown = JSON.parse(fields.get('blocks') ?? '[]');
    const problem = problemOf(blocks);
    if (problem !== undefined) return no(problem);
    if (name === 'chat.postMessage') {
      const mrkdwn = fields.get('mrkdwn') !== 'false';
      messages.push({ text: fields.get('text') ?? '', mrkdwn, blocks: Blocks.parse(blocks), files: [] });
      return { status: 200, body: { ok: true, ts: '1.1' } };
    }
    if (name !== 'files.completeUploadExternal') return no('unknown_method');
    const named = z
      .array(z.strictObject({ id: z.string(), title: z.string() }))
      .min(1)
      .safeParse(JSON.parse(fields.get('files') ?? 'null'));
    if (!named.success) return no('invalid_arguments');
    const files = named.data.map(({ id }) => uploads.get(id));
    if (files.some((file) => file === undefined)) return no('file_not_found');
    messages.push({ text: '', mrkdwn: true, blocks: Blocks.parse(blocks), files: files.flatMap((file) => file ?? []) });
    return { status: 200, body: { ok: true, files: named.data } };
  };

  const receiver = await startHttpReceiver((got) => {
    const { pathname } = got.url;
    called.push(pathname.slice(pathname.lastIndexOf('/') + 1));
    const fault = faults.take();
    if (fault !== undefined) return fault;
    if (pathname === '/services/T/B/secret') return hook(got);
    if (pathname.startsWith('/services/')) return { status: 404, body: 'no_service' };
    if (pathname.startsWith('/api/')) return method(pathname.slice('/api/'.length), got);
    const id = pathname.slice('/upload/'.length);
    if (!uploads.has(id)) return { status: 404, body: 'not found' };
    uploads.set(id, got.body);
    return { status: 200, body: `OK - ${got.body.length}` };
  });
  origin = receiver.origin;
  return {
    ...receiver,
    url: new URL('/services/T/B/secret', origin),
    api: new URL('/api/', origin),
    messages,
    faults,
    called,
  };
}
