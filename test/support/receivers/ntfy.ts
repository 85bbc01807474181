import { z } from 'zod';
import { Faults, type Got, type HttpReceiver, jsonIn, startHttpReceiver } from './http-receiver.ts';

/* A server of ntfy, after https://docs.ntfy.sh/publish/ and https://docs.ntfy.sh/config/. */

const MAX_MESSAGE_BYTES = 4096;
const MAX_FILE_BYTES = 15 * 1024 * 1024;

const Action = z.strictObject({ action: z.literal('view'), label: z.string().min(1), url: z.url() });
const Published = z.strictObject({
  topic: z.string().regex(/^[-_A-Za-z0-9]{1,64}$/),
  message: z.string().default('triggered'),
  title: z.string().optional(),
  tags: z.array(z.string()).default([]),
  priority: z.int().min(1).max(5).default(3),
  click: z.url().optional(),
  actions: z.array(Action).max(3).default([]),
  attach: z.url().optional(),
  filename: z.string().optional(),
});
export type NtfyMessage = z.output<typeof Published> & { readonly file: Buffer | null };

export interface NtfyReceiver extends HttpReceiver {
  readonly url: URL;
  readonly messages: readonly NtfyMessage[];
  readonly faults: Faults;
}

export interface NtfyServerOptions {
  /** `null`: the server takes no attachments. */
  readonly maxFileBytes?: number | null;
  readonly token?: string;
}

export async function startNtfy({
  maxFileBytes = MAX_FILE_BYTES,
  token,
}: NtfyServerOptions = {}): Promise<NtfyReceiver> {
  const messages: NtfyMessage[] = [];
  const faults = new Faults();
  const no = (http: number, code: number, error: string) => ({ status: http, body: { code, http, error } });

  const read = ({ method, url, body }: Got): unknown => {
    if (method === 'POST' && url.pathname === '/') return jsonIn(body);
    const { searchParams: query } = url;
    const given = Object.fromEntries(query);
    return {
      ...given,
      topic: url.pathname.slice(1),
      ...(query.has('tags') ? { tags: query.get('tags')?.split(',').filter(Boolean) } : {}),
      ...(query.has('priority') ? { priority: Number(query.get('priority')) } : {}),
      ...(query.has('actions') ? { actions: JSON.parse(query.get('actions') ?? '') } : {}),
    };
  };

  const receiver = await startHttpReceiver((got) => {
    const fault = faults.take();
    if (fault !== undefined) return fault;
    if (token !== undefined && got.headers.authorization !== `Bearer ${token}`) return no(403, 40_301, 'forbidden');
    const published = Published.safeParse(read(got));
    if (!published.success) return no(400, 40_024, `invalid request: ${published.error.message}`);
    if (Buffer.byteLength(published.data.message) > MAX_MESSAGE_BYTES) return no(400, 40_041, 'message too long');
    const file = got.method === 'PUT' ? got.body : null;
    if (file !== null && maxFileBytes === null) return no(400, 40_014, 'invalid request: attachments not allowed');
    if (file !== null && maxFileBytes !== null && file.length > maxFileBytes)
      return no(413, 41_301, 'attachment too large, or bandwidth limit reached');
    messages.push({ ...published.data, file });
    return { status: 200, body: { id: 'id', event: 'message' } };
  });
  return { ...receiver, url: new URL('/alerts', receiver.origin), messages, faults };
}
