import { z } from 'zod';
import type { Attempt, Transport } from '../transport.ts';
import { again, endOf, exchange, type HttpAnswer, type HttpParts, jsonOf, refused } from './exchange.ts';
import { messenger, type SentImage } from './messenger.ts';
import { blocksOf, fallbackOf } from './slack-blocks.ts';

/*
 * Slack's Web API with a bot token: images are uploaded, and shared together with the message.
 * https://docs.slack.dev/messaging/working-with-files/#uploading_files
 */

/** Slack shows previews of images up to about this size; files may be larger. */
const IMAGE_LIMITS = { maxBytes: 3 * 1024 * 1024, maxSide: 4096 };
/** The Web API answers errors with the status 200: https://docs.slack.dev/apis/web-api/#responses. Others are final. */
const TEMPORARY = [
  'ratelimited',
  'rate_limited',
  'internal_error',
  'fatal_error',
  'service_unavailable',
  'request_timeout',
];

const AnswerSchema = z.object({
  ok: z.boolean(),
  error: z.string().optional(),
  upload_url: z.url().optional(),
  file_id: z.string().optional(),
});

interface SlackBotOptions extends HttpParts {
  /** Id of a channel or user, such as `C0123456789`. */
  readonly channel: string;
  /** `xoxb-...`, with the scopes `chat:write` and `files:write`. */
  readonly token: string;
  /** @default https://slack.com/api/ */
  readonly api?: URL | undefined;
}

type Called = { readonly answer: z.output<typeof AnswerSchema> } | { readonly end: Attempt };

export function slackBotTransport({ channel, token, api, ...parts }: SlackBotOptions): Transport {
  const root = api ?? new URL('https://slack.com/api/');

  const call = async (method: string, fields: Record<string, string>, signal: AbortSignal): Promise<Called> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/x-www-form-urlencoded' };
    const body = new URLSearchParams(fields).toString();
    const answer = await exchange({ url: new URL(method, root), headers, body }, parts, signal);
    return readAnswer(method, answer);
  };

  /** Returns the id of the file, which nobody sees until it is shared. */
  const upload = async ({ bytes, mediaType, fileName, image }: SentImage, signal: AbortSignal) => {
    const fields = { filename: fileName, length: String(bytes.length), alt_txt: image.alt };
    const place = await call('files.getUploadURLExternal', fields, signal);
    if ('end' in place) return place;
    const { upload_url: url, file_id: id } = place.answer;
    if (url === undefined || id === undefined) return { end: again('Slack answered no address for an upload') };
    const headers = { 'content-type': mediaType };
    const end = endOf(await exchange({ url: new URL(url), headers, body: bytes }, parts, signal));
    return end.end === 'delivered' ? { id, title: image.alt } : { end };
  };

  return messenger({
    files: IMAGE_LIMITS,
    loads: true,
    // Without the right to upload, or with an image that Slack cannot load.
    refusesImages: ({ end }) => end === 'refused',
    tell: async (notice, { files, links }, { signal }) => {
      const shared: { id: string; title: string }[] = [];
      for (const image of files) {
        const file = await upload(image, signal);
        if ('end' in file) return file.end;
        shared.push(file);
      }
      const blocks = JSON.stringify(blocksOf(notice, links));
      const { text, ...settings } = fallbackOf(notice);
      const fields = Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, String(value)]));
      const answer =
        files.length > 0
          ? await call(
              'files.completeUploadExternal',
              { files: JSON.stringify(shared), channel_id: channel, blocks },
              signal,
            )
          : await call('chat.postMessage', { ...fields, channel, text, blocks }, signal);
      return 'end' in answer ? answer.end : { end: 'delivered', status: 200 };
    },
  });
}

function readAnswer(method: string, answer: HttpAnswer): Called {
  const end = endOf(answer);
  if (end.end !== 'delivered') return { end };
  const read = AnswerSchema.safeParse(jsonOf(answer.body));
  if (!read.success) return { end: again(`${method}: Slack answered no JSON`, answer.status) };
  if (read.data.ok) return { answer: read.data };
  const { error = 'no reason' } = read.data;
  const reason = `${method}: ${error}`;
  return { end: TEMPORARY.includes(error) ? again(reason, answer.status) : refused(reason, answer.status) };
}
