import type { Messenger } from '../../capture/work/receiver.ts';
import type { Egress } from '../../egress/egress.ts';
import type { Transport } from '../transport.ts';
import { decodes } from './decodes.ts';
import { discordTransport } from './discord.ts';
import type { HttpParts } from './exchange.ts';
import { mailTransport } from './mail.ts';
import { type MailAddress, readMailAddress } from './mail-address.ts';
import { ntfyTransport } from './ntfy.ts';
import { slackWebhookTransport } from './slack.ts';
import { slackBotTransport } from './slack-bot.ts';
import { teamsTransport } from './teams.ts';

/** Where messages go, read from what an operator or a key has written. */
type MessengerAddress =
  | { readonly kind: 'slack' | 'discord' | 'teams'; readonly url: URL }
  | { readonly kind: 'slack'; readonly channel: string; readonly token: string }
  | { readonly kind: 'ntfy'; readonly url: URL; readonly token: string | undefined }
  | { readonly kind: 'mail'; readonly address: MailAddress };

interface MessengerFacts {
  /** Forms of its address, for error texts and documentation. */
  readonly forms: readonly string[];
  /** How images come to the reader. */
  readonly images: string;
}

export const MESSENGER_FACTS: Readonly<Record<Messenger, MessengerFacts>> = {
  slack: {
    forms: ['https://hooks.slack.com/services/...', 'https://xoxb-token@slack.com/C0123456789'],
    images: 'with a bot token, uploaded; with a webhook, loaded by Slack from a shared link',
  },
  discord: { forms: ['https://discord.com/api/webhooks/...'], images: 'uploaded' },
  teams: { forms: ['https://...logic.azure.com/workflows/...'], images: 'loaded by Teams from a shared link' },
  ntfy: { forms: ['https://ntfy.sh/topic', 'https://tk_token@ntfy.sh/topic'], images: 'the first one, uploaded' },
  mail: {
    forms: ['smtps://user:password@host/?to=name@domain', 'smtp://user:password@host/?to=name@domain'],
    images: 'inside of the message',
  },
};

/** https://docs.slack.dev/reference/objects/conversation-object */
const CHANNEL = /^\/([CDGU][A-Z0-9]{6,20})$/;

/** Reads an address. Returns what is wrong with it as a text, without what may be secret. */
export function readMessengerAddress(kind: Messenger, text: string): MessengerAddress | string {
  if (kind === 'mail') {
    const address = readMailAddress(text);
    return typeof address === 'string' ? address : { kind, address };
  }
  const url = URL.parse(text);
  const wrong = `must be a URL such as ${MESSENGER_FACTS[kind].forms.join(' or ')}`;
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) return wrong;
  if (!decodes(url.username + url.password)) return wrong;
  switch (kind) {
    case 'slack': {
      if (url.username === '') return { kind, url };
      const [, channel] = CHANNEL.exec(url.pathname) ?? [];
      return channel === undefined ? wrong : { kind, channel, token: decodeURIComponent(url.username) };
    }
    case 'ntfy': {
      if (!/^\/[^/]/.test(url.pathname) || !decodes(url.pathname)) return wrong;
      const isToken = url.username.startsWith('tk_') && url.password === '';
      return { kind, url, token: isToken ? url.username : undefined };
    }
    default:
      return { kind, url };
  }
}

export type MessengerParts = HttpParts & Pick<Egress, 'connectToMail'>;

export function openMessenger(address: MessengerAddress, parts: MessengerParts): Transport {
  switch (address.kind) {
    case 'slack':
      return 'url' in address
        ? slackWebhookTransport({ ...parts, ...address })
        : slackBotTransport({ ...parts, ...address });
    case 'discord':
      return discordTransport({ ...parts, ...address });
    case 'teams':
      return teamsTransport({ ...parts, ...address });
    case 'ntfy':
      return ntfyTransport({ ...parts, ...address });
    case 'mail':
      return mailTransport({ ...parts, ...address });
  }
}
