import type { ImageLimits, Notice, NoticeImage } from '../../src/receivers/notice.ts';
import type { Message } from '../../src/receivers/transport.ts';

/** One pixel. */
export const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

export const NEVER = new AbortController().signal;

interface ImageOptions {
  readonly url?: string | null;
  readonly bytes?: Buffer | null;
  /** Called with the limits of each reading. */
  readonly onRead?: (limits: ImageLimits) => void;
}

export function exampleImage(
  name: NoticeImage['name'],
  { url = `https://capstan.example/shared/${name}?signature=1`, bytes = PNG, onRead }: ImageOptions = {},
): NoticeImage {
  return {
    name,
    alt: `Screenshot ${name}`,
    url,
    read: async (limits) => {
      onRead?.(limits);
      return bytes === null || bytes.length > limits.maxBytes ? null : { bytes, mediaType: 'image/png' };
    },
  };
}

export function exampleNotice(changes: Partial<Notice> = {}): Notice {
  return {
    about: 'shop.example/lamps',
    sentence: 'Price fell from €59.00 to €47.50',
    isProblem: false,
    facts: [
      { label: 'Labels', text: 'lamps, shop' },
      { label: 'Time', text: '2026-11-29 14:00 UTC' },
    ],
    links: [
      { label: 'Comparison', url: 'https://capstan.example/shared/abc_d?expires=1&signature=0f' },
      { label: 'Page', url: 'https://shop.example/lamps?a=1&b=2' },
    ],
    images: [],
    ...changes,
  };
}

export function messageOf(changes: Partial<Notice> = {}, id = 'evt_1'): Message {
  return { id, body: '{}', notice: async () => exampleNotice(changes) };
}
