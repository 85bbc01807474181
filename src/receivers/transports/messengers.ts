import type { Egress } from '../../egress/egress.ts';
import type { Transport } from '../transport.ts';
import { type MailAddress, readMailAddress } from './mail-address.ts';

/** Services that show messages to people. */
export const MESSENGERS = ['slack', 'discord', 'teams', 'ntfy', 'mail'] as const;
export type Messenger = (typeof MESSENGERS)[number];

/** Where messages go, read from what an operator or a key has written. */
export type MessengerAddress =
  | { readonly kind: 'slack' | 'discord' | 'teams'; readonly url: URL }
  | { readonly kind: 'slack'; readonly channel: string; readonly token: string }
  | { readonly kind: 'ntfy'; readonly url: URL; readonly token?: string | undefined }
  | { readonly kind: 'mail'; readonly address: MailAddress };

interface MessengerFacts {
  /** Form of the address, for error texts and documentation. */
  readonly form: string;
  /** What the secret is, which does not stand in the address; null when there is none. */
  readonly secret: string | null;
  /** How images come to the reader. */
  readonly images: string;
}

export const MESSENGER_FACTS: Readonly<Record<Messenger, MessengerFacts>> = {
  slack: {
    form: 'https://hooks.slack.com/services/..., or the id of a channel such as C0123456789',
    secret: 'bot token (xoxb-...), with the id of a channel',
    images: 'uploaded with a bot token; with a webhook, loaded by Slack from a shared link',
  },
  discord: { form: 'https://discord.com/api/webhooks/...', secret: null, images: 'uploaded' },
  teams: { form: 'https:// URL of a workflow', secret: null, images: 'loaded by Teams from a shared link' },
  ntfy: {
    form: 'https://ntfy.sh/<topic>, or that of another server',
    secret: 'access token (tk_...)',
    images: 'the first one uploaded',
  },
  mail: {
    form: 'smtps://user@host/?to=name@domain, or smtp:// for a server with STARTTLS',
    secret: 'password of the user',
    images: 'inside of the message',
  },
};

const CHANNEL = /^[CDGU][A-Z0-9]{6,20}$/;

/** Reads an address. Returns what is wrong with it as a text, without what may be secret. */
export function readMessengerAddress(kind: Messenger, text: string, secret?: string): MessengerAddress | string {
  if (kind === 'mail') {
    const address = readMailAddress(text, secret);
    return typeof address === 'string' ? address : { kind, address };
  }
  if (kind === 'slack' && CHANNEL.test(text)) {
    return secret === undefined ? 'needs a bot token for a channel' : { kind, channel: text, token: secret };
  }
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    return `must be ${MESSENGER_FACTS[kind].form}`;
  if (kind !== 'ntfy') return { kind, url };
  return /[^/]/.test(url.pathname) ? { kind, url, token: secret } : `must name a topic: ${MESSENGER_FACTS.ntfy.form}`;
}

export type MessengerParts = Pick<Egress, 'agents' | 'connectToMail'> & {
  /** Time limit for each request, in milliseconds. */
  readonly timeoutMs?: number | undefined;
};

/** Loads the transport of an address. */
export async function openMessenger(address: MessengerAddress, parts: MessengerParts): Promise<Transport> {
  switch (address.kind) {
    case 'slack': {
      if ('url' in address) {
        const { slackWebhookTransport } = await import('./slack.ts');
        return slackWebhookTransport({ ...parts, ...address });
      }
      const { slackBotTransport } = await import('./slack-bot.ts');
      return slackBotTransport({ ...parts, ...address });
    }
    case 'discord': {
      const { discordTransport } = await import('./discord.ts');
      return discordTransport({ ...parts, ...address });
    }
    case 'teams': {
      const { teamsTransport } = await import('./teams.ts');
      return teamsTransport({ ...parts, ...address });
    }
    case 'ntfy': {
      const { ntfyTransport } = await import('./ntfy.ts');
      return ntfyTransport({ ...parts, ...address });
    }
    case 'mail': {
      const { mailTransport } = await import('./mail.ts');
      return mailTransport({ ...parts, ...address });
    }
  }
}
