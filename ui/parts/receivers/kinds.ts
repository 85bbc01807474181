import type { Receiver } from '../../api/types.ts';

export type Kind = Exclude<Receiver['kind'], 'unknown'>;

interface KindWords {
  readonly name: string;
  /** Label of the address. */
  readonly address: string;
  readonly example: string;
  /** Steps to find the address. */
  readonly hint: string;
}

/** Kinds of receivers, as forms name them, the most common first. */
export const KINDS: Readonly<Record<Kind, KindWords>> = {
  slack: {
    name: 'Slack',
    address: 'Webhook URL',
    example: 'https://hooks.slack.com/services/T0123/B0123/abc',
    hint: 'In Slack: Apps, “Incoming WebHooks”, choose the channel, and copy the webhook URL. To have images uploaded, use a bot token and the id of the channel: https://xoxb-token@slack.com/C0123456789.',
  },
  discord: {
    name: 'Discord',
    address: 'Webhook URL',
    example: 'https://discord.com/api/webhooks/123/abc',
    hint: 'In Discord: settings of the channel, “Integrations”, “Webhooks”, “New Webhook”, “Copy Webhook URL”.',
  },
  teams: {
    name: 'Microsoft Teams',
    address: 'URL of the workflow',
    example: 'https://prod-1.westeurope.logic.azure.com/workflows/abc',
    hint: 'In Teams: menu of the channel, “Workflows”, the template “Send webhook alerts to a channel”, and copy its URL.',
  },
  ntfy: {
    name: 'ntfy',
    address: 'URL of the topic',
    example: 'https://ntfy.sh/my-prices',
    hint: 'The topic that you have subscribed to in the ntfy app, on ntfy.sh or another server. Whoever knows it can read it. An access token stands in front of the host: https://tk_token@ntfy.sh/my-prices.',
  },
  mail: {
    name: 'Mail',
    address: 'Mail server, with sender and addressees',
    example: 'smtps://me%40shop.example:password@smtp.shop.example/?to=team@shop.example',
    hint: 'smtps:// for port 465, smtp:// for port 587 with STARTTLS. In front of the host stand user and password, with @ written as %40; behind to=, the addressees.',
  },
  webhook: {
    name: 'Webhook',
    address: 'URL',
    example: 'https://example.com/hook',
    hint: 'A program of yours. It gets each event as signed JSON. The service must have been started with --webhook-secret.',
  },
};

export const KIND_NAMES = Object.keys(KINDS) as readonly Kind[];

export const nameOfKind = (kind: Receiver['kind']): string => (kind === 'unknown' ? 'Unknown kind' : KINDS[kind].name);
