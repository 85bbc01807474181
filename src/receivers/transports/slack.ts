import type { Transport } from '../transport.ts';
import { endOf, exchange, type HttpParts } from './exchange.ts';
import { messenger } from './messenger.ts';
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
  return messenger({
    loads: true,
    // Slack refuses a message with an image that it cannot load, such as one of a service that is not public.
    refusesImages: (end) => end.status === 400 && 'reason' in end && /invalid_blocks|image/.test(end.reason),
    tell: async (notice, { links }, { signal }) => {
      const body = JSON.stringify({ ...fallbackOf(notice), blocks: blocksOf(notice, links) });
      return endOf(await exchange({ url, headers: { 'content-type': 'application/json' }, body }, parts, signal));
    },
  });
}
