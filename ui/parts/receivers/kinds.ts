import type { Receiver } from '../../api/types.ts';

export type Kind = Receiver['kind'];

interface KindWords {
  readonly name: string;
  /** Label of the address. */
  readonly address: string;
  readonly example: string;
  /** How a person comes by the address. */
  readonly hint: string;
  /** Label of the secret, when an address needs one, or may need one. */
  readonly secretFor: (address: string) => string | undefined;
}

const none = () => undefined;

/** Kinds of receivers, as forms name them; those that most people use first. */
export const KINDS: Readonly<Record<Kind, KindWords>> = {
  slack: {
    name: 'Slack',
    address: 'Webhook URL, or id of a channel',
    example: 'https://hooks.slack.com/services/T0123/B0123/abc',
    hint: 'In Slack: Apps, “Incoming WebHooks”, choose the channel, and copy the webhook URL. To have images uploaded, write the id of the channel, such as C0123456789, and give a bot token.',
    secretFor: (address) => (/^[CDGU][A-Z0-9]+$/.test(address.trim()) ? 'Bot token (xoxb-…)' : undefined),
  },
  discord: {
    name: 'Discord',
    address: 'Webhook URL',
    example: 'https://discord.com/api/webhooks/123/abc',
    hint: 'In Discord: settings of the channel, “Integrations”, “Webhooks”, “New Webhook”, “Copy Webhook URL”.',
    secretFor: none,
  },
  teams: {
    name: 'Microsoft Teams',
    address: 'URL of the workflow',
    example: 'https://prod-1.westeurope.logic.azure.com/workflows/abc',
    hint: 'In Teams: menu of the channel, “Workflows”, the template “Send webhook alerts to a channel”, and copy its URL.',
    secretFor: none,
  },
  ntfy: {
    name: 'ntfy',
    address: 'URL of the topic',
    example: 'https://ntfy.sh/my-prices',
    hint: 'The topic that you have subscribed to in the ntfy app, on ntfy.sh or another server. Whoever knows it can read it.',
    secretFor: () => 'Access token, if the topic needs one',
  },
  mail: {
    name: 'Mail',
    address: 'Mail server, with sender and addressees',
    example: 'smtps://me%40shop.example@smtp.shop.example/?to=team@shop.example',
    hint: 'smtps:// for port 465, smtp:// for port 587 with STARTTLS. In front of the host stands the user, with @ written as %40; behind to=, the addressees.',
    secretFor: () => 'Password of the user',
  },
  webhook: {
    name: 'Webhook',
    address: 'URL',
    example: 'https://example.com/hook',
    hint: 'A program of yours. It gets each event as signed JSON. The service must have been started with --webhook-secret.',
    secretFor: none,
  },
};

export const KIND_NAMES = Object.keys(KINDS) as readonly Kind[];
