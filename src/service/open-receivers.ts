import { randomUUID } from 'node:crypto';
import { type Config, ConfigError } from '../config/mod.ts';
import { createTargetPolicy } from '../egress/address-policy.ts';
import { createEgress } from '../egress/create-egress.ts';
import type { Lookup } from '../egress/dns-lookup.ts';
import type { Egress } from '../egress/egress.ts';
import { eventBody } from '../feed/event-body.ts';
import type { EventStream } from '../streams/events.ts';
import { createWebhooks } from '../webhooks/webhooks.ts';

type ReceiversConfig = Pick<Config, 'webhook' | 'webhookSecret' | 'allowWebhooks' | 'denyTargets'>;

/**
 * Opens the way to the receivers of webhooks, which has an egress policy of its own, and notifies them from now on.
 * @throws ConfigError when receivers are configured that would never receive a notification.
 */
export function openReceivers(
  config: ReceiversConfig,
  { lookup, events }: { readonly lookup: Lookup; readonly events: EventStream },
) {
  const policy = createTargetPolicy({ allow: config.allowWebhooks, deny: config.denyTargets });
  const egress = createEgress({ lookup, policy, openedWith: '--allow-webhooks' });
  checkReceivers(config, egress);
  const webhooks = createWebhooks({
    receivers: config.webhook,
    secrets: config.webhookSecret,
    egress,
    conclusions$: events.conclusions$,
    emit: events.emit,
    bodyOf: eventBody,
    ids: () => `msg_${randomUUID()}`,
    clock: Date.now,
  });
  return {
    webhooks,
    egress,
    reload: ({ allowWebhooks, denyTargets, webhookSecret }: Omit<ReceiversConfig, 'webhook'>): void => {
      policy.replace({ allow: allowWebhooks, deny: denyTargets });
      webhooks.setSecrets(webhookSecret);
    },
  };
}

/** @throws ConfigError when receivers would never receive a notification. */
function checkReceivers({ webhook, webhookSecret }: ReceiversConfig, egress: Pick<Egress, 'screenLiteral'>): void {
  if (webhook.length > 0 && webhookSecret.length === 0) {
    throw new ConfigError('--webhook needs --webhook-secret: deliveries are signed');
  }
  for (const receiver of webhook) {
    const refusal = egress.screenLiteral(new URL(receiver));
    if (refusal !== null) throw new ConfigError(`--webhook is not allowed: ${refusal.reason}`);
  }
}
