import type { Transport } from '../transport.ts';
import { attempt, endOf, exchange, type HttpParts } from './exchange.ts';
import { linkedImages } from './images.ts';
import { blocksOf, fallbackOf } from './slack-blocks.ts';

/*
 * Slack's incoming webhooks: https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks/. They take no
 * uploads: Slack loads images by their URLs.
 */

interface SlackWebhookOptions extends HttpParts {
  /** `https://hooks.slack.com/services/...` */
  readonly url: URL;
}

export function slackWebhookTransport({ url, ...parts }: SlackWebhookOptions): Transport {
  return {
    send: (message, signal) =>
      attempt(signal, async () => {
        const notice = await message.notice();
        const images = linkedImages(notice);
        const post = async (shown: typeof images) => {
          const body = JSON.stringify({ ...fallbackOf(notice), blocks: blocksOf(notice, shown) });
          return exchange({ url, headers: { 'content-type': 'application/json' }, body }, parts, signal);
        };
        const answer = await post(images);
        // Slack refuses a message with an image that it cannot load, such as one of a service that is not public.
        const isRefused = answer.status === 400 && /invalid_blocks|image/.test(answer.body) && images.length > 0;
        return endOf(isRefused ? await post([]) : answer);
      }),
  };
}
