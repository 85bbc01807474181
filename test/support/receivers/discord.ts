import { z } from 'zod';
import { Faults, type HttpReceiver, startHttpReceiver } from './http-receiver.ts';

/*
 * A webhook of Discord, after https://docs.discord.com/developers/resources/webhook#execute-webhook and
 * https://docs.discord.com/developers/resources/message#embed-object-embed-limits.
 */

const MAX_FILE_BYTES = 10 * 1024 * 1024;
const MAX_TEXT_OF_MESSAGE = 6000;

const image = z.object({ url: z.string().regex(/^(?:https?|attachment):\/\//) }).optional();
const Embed = z.strictObject({
  title: z.string().max(256).optional(),
  url: z.url({ protocol: /^https?$/ }).optional(),
  description: z.string().max(4096).optional(),
  color: z.int().min(0).max(0xff_ff_ff).optional(),
  fields: z
    .array(
      z.strictObject({
        name: z.string().min(1).max(256),
        value: z.string().trim().min(1).max(1024),
        inline: z.boolean(),
      }),
    )
    .max(25)
    .optional(),
  image,
});
const Payload = z.strictObject({
  content: z.string().max(2000).optional(),
  allowed_mentions: z.strictObject({ parse: z.array(z.enum(['roles', 'users', 'everyone'])) }).optional(),
  embeds: z.array(Embed).max(10),
  attachments: z
    .array(z.strictObject({ id: z.int(), filename: z.string().regex(/^[\w.-]+$/), description: z.string().max(1024) }))
    .optional(),
});
export type DiscordMessage = z.output<typeof Payload> & { readonly files: ReadonlyMap<string, Buffer> };

export interface DiscordReceiver extends HttpReceiver {
  readonly url: URL;
  /** Messages of its channel. */
  readonly messages: readonly DiscordMessage[];
  readonly faults: Faults;
}

export function rateLimited(seconds: number) {
  return {
    status: 429,
    headers: {
      'retry-after': String(Math.ceil(seconds)),
      'x-ratelimit-scope': 'user',
      'x-ratelimit-reset-after': String(seconds),
    },
    body: { message: 'You are being rate limited.', retry_after: seconds, global: false },
  };
}

export async function startDiscord({ maxFileBytes = MAX_FILE_BYTES } = {}): Promise<DiscordReceiver> {
  const messages: DiscordMessage[] = [];
  const faults = new Faults();
  const receiver = await startHttpReceiver(async ({ method, url, headers, body }) => {
    const fault = faults.take();
    if (fault !== undefined) return fault;
    if (method !== 'POST') return { status: 405 };
    if (!url.pathname.startsWith('/api/webhooks/1/'))
      return { status: 404, body: { message: 'Unknown Webhook', code: 10_015 } };
    if (url.pathname !== '/api/webhooks/1/token')
      return { status: 401, body: { message: 'Invalid Webhook Token', code: 50_027 } };
    const type = headers['content-type'] ?? '';
    const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } })
      .formData()
      .catch(() => undefined);
    if (form === undefined) return { status: 400, body: { message: '400: Bad Request', code: 0 } };
    const written = Payload.safeParse(JSON.parse(String(form.get('payload_json'))));
    if (!written.success)
      return { status: 400, body: { message: 'Invalid Form Body', code: 50_035, errors: written.error.issues } };
    const payload = written.data;
    const sum = payload.embeds.flatMap(({ title = '', description = '', fields = [] }) => [
      ...[title, description],
      ...fields.flatMap(({ name, value }) => [name, value]),
    ]);
    if (sum.join('').length > MAX_TEXT_OF_MESSAGE)
      return { status: 400, body: { message: 'Invalid Form Body', code: 50_035 } };
    const files = new Map<string, Buffer>();
    for (const [name, value] of form) {
      if (!(value instanceof File)) continue;
      if (!/^files\[\d+\]$/.test(name)) return { status: 400, body: { message: 'Invalid Form Body', code: 50_035 } };
      if (value.size > maxFileBytes)
        return { status: 413, body: { message: 'Request entity too large', code: 40_005 } };
      files.set(value.name, Buffer.from(await value.arrayBuffer()));
    }
    for (const { image } of payload.embeds) {
      const name = /^attachment:\/\/(.+)$/.exec(image?.url ?? '')?.[1];
      if (name !== undefined && !files.has(name))
        return { status: 400, body: { message: 'Invalid Form Body', code: 50_035 } };
    }
    messages.push({ ...payload, files });
    return url.searchParams.get('wait') === 'true'
      ? { status: 200, body: { id: String(messages.length) } }
      : { status: 204 };
  });
  return { ...receiver, url: new URL('/api/webhooks/1/token', receiver.origin), messages, faults };
}
