import { type Observable, Subscription } from 'rxjs';
import { ofKey } from '../capture/client.ts';
import { CapstanError } from '../capture/errors.ts';
import type { Conclusion, WebhookEvent } from '../capture/events.ts';
import type { Egress } from '../egress/egress.ts';
import { type Delivery, type DeliveryOptions, deliver, type Message } from './deliver.ts';
import { createReceiverQueues, type ReceiverQueues, type ReceiverQueuesOptions } from './receiver-queues.ts';
import { readSecret } from './signature.ts';

export interface WebhooksOptions extends Partial<Pick<DeliveryOptions, 'timeoutMs' | 'retries' | 'retryDelayMs'>> {
  /** URLs that receive every notification. */
  readonly receivers: readonly string[];
  /** Secrets (`whsec_` followed by base64). When the list is empty, nothing is sent and callbacks are refused. */
  readonly secrets: readonly string[];
  readonly egress: Pick<Egress, 'agents' | 'screen'>;
  readonly conclusions$: Observable<Conclusion>;
  readonly emit: (event: WebhookEvent) => void;
  /** Returns the JSON of an event, as subscribers receive it. */
  readonly bodyOf: (event: Conclusion['event']) => string;
  /** Generates the `webhook-id` of a new message. */
  readonly ids: () => string;
  /** Milliseconds since the Unix epoch. */
  readonly clock: () => number;
  readonly bounds?: Partial<ReceiverQueuesOptions>;
}

export type Webhooks = ReturnType<typeof createWebhooks>;

/** A queued message, and the event it is about. */
interface Posting extends Message {
  readonly about: Conclusion['event'];
  readonly queuedAt: number;
}

/**
 * For each receiver, and each key whose clients name it as callback. Receivers are ordinary web services: 4 concurrent
 * deliveries are fast enough, and 40 would overload many.
 */
const CONCURRENCY = 4;
/** Limits the messages for an unreachable receiver to about 2 MB. */
const MAX_OF_ONE = 1_000;
/** Maximum number of pending messages to all callbacks together: clients choose the callbacks. Keys share it. */
const MAX_OF_CALLBACKS = 5_000;

/** Notifies receivers of how captures and batches ended, and of what watches found, in the background. */
export function createWebhooks(options: WebhooksOptions) {
  const { egress, emit, ids, clock, bodyOf, bounds } = options;
  let keys = options.secrets.map(readSecret);
  const given = new AbortController();
  const receivers = options.receivers.map((receiver) => new URL(receiver));
  const delivery: DeliveryOptions = { ...options, agents: egress.agents, keys: () => keys };

  const report = ({ id, url, about, queuedAt }: Posting, result: Delivery): void => {
    const base = {
      at: new Date(clock()).toISOString(),
      webhook: id,
      receiver: url.host,
      about: about.type,
      capture: 'id' in about ? about.id : null,
      batch: 'batch' in about ? about.batch : null,
      watch: 'watch' in about ? about.watch : null,
      ...ofKey(about.api_key_name ?? null),
      attempts: result.attempts,
    };
    if (result.delivered) {
      emit({ type: 'webhook.delivered', ...base, status: result.status, duration_ms: clock() - queuedAt });
    } else {
      const { cause, reason, status } = result;
      emit({ type: 'webhook.failed', ...base, cause, reason, status });
    }
  };
  const send = async (posting: Posting): Promise<void> =>
    report(posting, given.signal.aborted ? stopped() : await deliver(posting, delivery, given.signal));

  const limits = { concurrency: CONCURRENCY, maxOfOne: MAX_OF_ONE, maxPending: MAX_OF_CALLBACKS, ...bounds };
  const callbackQueues = createReceiverQueues(limits);
  // Callbacks never take up the capacity of the operator's own receivers.
  const receiverQueues = createReceiverQueues({ ...limits, maxPending: Number.POSITIVE_INFINITY });

  const post = (
    queues: ReceiverQueues,
    owner: string | null,
    url: URL,
    about: Conclusion['event'],
    body: string,
  ): void => {
    const posting = { id: ids(), url, body, about, queuedAt: clock() };
    if (given.signal.aborted) report(posting, stopped());
    else if (!queues.join(url.origin, owner, () => send(posting))) {
      report(posting, gaveUp('dropped', 'too much is waiting for this receiver, or for the callbacks of this key'));
    }
  };

  const subscription = new Subscription();
  if (keys.length > 0) {
    subscription.add(
      options.conclusions$.subscribe(({ event, callback }) => {
        if (receivers.length === 0 && callback === undefined) return;
        const body = bodyOf(event);
        for (const url of receivers) post(receiverQueues, null, url, event, body);
        if (callback !== undefined) {
          post(callbackQueues, event.api_key_name ?? null, new URL(callback), event, body);
        }
      }),
    );
  }

  return {
    /**
     * Resolves when a callback may be used; rejects with `invalid_request` or `target_forbidden`, or with the signal's
     * reason.
     */
    async admit(callback: string, signal: AbortSignal): Promise<void> {
      if (keys.length === 0) throw noSecret();
      const forbidden = await egress.screen(new URL(callback), signal);
      if (forbidden !== null) throw new CapstanError(forbidden.code, `callback: ${forbidden.reason}`);
    },
    /** Number of messages that are waiting or being sent. */
    get pending() {
      return callbackQueues.pending + receiverQueues.pending;
    },
    /**
     * Waits at most `graceMs` milliseconds for pending messages, then drops them. May be called again with less time.
     */
    async drain(graceMs: number): Promise<void> {
      // Messages that wait are then given up when their turn comes, at once.
      const timer = setTimeout(() => given.abort(), graceMs);
      await Promise.all([receiverQueues.empty(), callbackQueues.empty()]);
      clearTimeout(timer);
    },
    /** Replaces the secrets, also for messages that wait. Empty lists are ignored: see `WebhooksOptions.secrets`. */
    setSecrets: (secrets: readonly string[]): void => {
      if (secrets.length > 0 && keys.length > 0) keys = secrets.map(readSecret);
    },
    /** Accepts no further messages. */
    stop: (): void => subscription.unsubscribe(),
  };
}

function gaveUp(cause: 'dropped' | 'shutting_down', reason: string): Delivery {
  return { delivered: false, cause, reason, status: null, attempts: 0 };
}

function stopped(): Delivery {
  return gaveUp('shutting_down', 'the service was stopped');
}

function noSecret(): CapstanError {
  const message = 'is not accepted: the service was started without --webhook-secret, which deliveries are signed with';
  return new CapstanError('invalid_request', `callback: ${message}`, { problems: [{ path: 'callback', message }] });
}
