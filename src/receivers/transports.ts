import type { ReceiverKind } from '../capture/work/receiver.ts';
import type { Egress } from '../egress/egress.ts';
import type { Transport } from './transport.ts';
import { decodes, NOT_ENCODED } from './transports/decodes.ts';
import { discordTransport } from './transports/discord.ts';
import type { HttpParts } from './transports/exchange.ts';
import { mailTransport } from './transports/mail.ts';
import { readMailAddress } from './transports/mail-address.ts';
import { ntfyTransport } from './transports/ntfy.ts';
import { slackWebhookTransport } from './transports/slack.ts';
import { slackBotTransport } from './transports/slack-bot.ts';
import { teamsTransport } from './transports/teams.ts';
import { type WebhookOptions, webhookTransport } from './transports/webhook.ts';

/** Parts that transports are made of. `keys`: those that sign webhooks. */
export type TransportParts = HttpParts & Pick<Egress, 'connectToMail'> & Pick<WebhookOptions, 'keys' | 'clock'>;

/** The address of a receiver, read. */
interface ReadAddress {
  /** Host and port; the rest may hold a secret. */
  readonly host: string;
  /** URL to check by the egress policy; null when the connection is checked alone. */
  readonly url: URL | null;
  readonly open: (parts: TransportParts) => Transport;
}

interface TransportKind {
  /** Forms of its address, for error texts and documentation. */
  readonly forms: readonly string[];
  /** How images come to the reader. */
  readonly images: string;
  /** Reads an address. Returns what is wrong with it as a text, without what may be secret. */
  readonly read: (address: string) => ReadAddress | string;
}

/** https://docs.slack.dev/reference/objects/conversation-object */
const CHANNEL = /^\/([CDGU][A-Z0-9]{6,20})$/;

/** The transports of each kind of receiver. */
export const TRANSPORTS: Readonly<Record<ReceiverKind, TransportKind>> = {
  webhook: overHttp(['https://program.example/hook'], 'none', (url) => (parts) => webhookTransport({ ...parts, url })),
  slack: overHttp(
    ['https://hooks.slack.com/services/...', 'https://xoxb-token@slack.com/C0123456789'],
    'with a bot token, uploaded; with a webhook, loaded by Slack from a shared link',
    (url) => {
      if (url.username === '') return (parts) => slackWebhookTransport({ ...parts, url });
      const [, channel] = CHANNEL.exec(url.pathname) ?? [];
      if (channel === undefined) return undefined;
      return (parts) => slackBotTransport({ ...parts, channel, token: decodeURIComponent(url.username) });
    },
  ),
  discord: overHttp(
    ['https://discord.com/api/webhooks/...'],
    'uploaded',
    (url) => (parts) => discordTransport({ ...parts, url }),
  ),
  teams: overHttp(
    ['https://...logic.azure.com/workflows/...'],
    'loaded by Teams from a shared link',
    (url) => (parts) => teamsTransport({ ...parts, url }),
  ),
  ntfy: overHttp(['https://ntfy.sh/topic', 'https://tk_token@ntfy.sh/topic'], 'the first one, uploaded', (url) => {
    if (!/^\/[^/]/.test(url.pathname) || !decodes(url.pathname)) return undefined;
    return (parts) => ntfyTransport({ ...parts, url });
  }),
  mail: {
    forms: ['smtps://user:password@host/?to=name@domain', 'smtp://user:password@host/?to=name@domain'],
    images: 'inside of the message',
    read: (text) => {
      const address = readMailAddress(text);
      if (typeof address === 'string') return address;
      const host = URL.parse(text)?.host ?? address.host;
      return { host, url: null, open: (parts) => mailTransport({ ...parts, address }) };
    },
  },
};

/** `openerFor`: returns the function that opens a transport to a URL; undefined when the URL has another form. */
function overHttp(
  forms: readonly string[],
  images: string,
  openerFor: (url: URL) => ReadAddress['open'] | undefined,
): TransportKind {
  const read = (text: string): ReadAddress | string => {
    const url = URL.parse(text);
    const isHttp = url !== null && /^https?:$/.test(url.protocol);
    // Joined by a colon, so that each must decode alone.
    if (isHttp && !decodes(`${url.username}:${url.password}`)) return NOT_ENCODED;
    const open = isHttp ? openerFor(url) : undefined;
    return url === null || open === undefined
      ? `must be a URL such as ${forms.join(' or ')}`
      : { host: url.host, url, open };
  };
  return { forms, images, read };
}
