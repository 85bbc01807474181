import { type Amount, STORED_LIMITS } from '../../capture/stored-limits.ts';
import { shareOf } from '../../fairness/share.ts';
import type { DeadWanted, DeliveryStore, LetterPlace, NewDelivery, StoredDelivery } from '../ports/delivery-store.ts';
import type { Condition, Document, DocumentStore, Page, StoredDocument } from '../ports/document-store.ts';
import type { HeldLock } from '../ports/lock.ts';
import { change, whereKey } from './find-and-change.ts';
import { oldestBeyond } from './make-room.ts';

type Row = 'deliveries';
type State = 'waiting' | 'dead';
type Content = Omit<StoredDelivery, 'id' | 'receiver' | 'apiKeyName' | 'lane' | 'position' | 'createdAt' | 'dueAt'>;

interface DeliveryLimits {
  readonly all: Amount;
  readonly ofReceiver: Amount;
  readonly dead: Amount;
}

const LIMITS: DeliveryLimits = {
  all: STORED_LIMITS.deliveries,
  ofReceiver: STORED_LIMITS.deliveriesOfReceiver,
  dead: STORED_LIMITS.deadLetters,
};
const WAITING = ['state', '=', 'waiting'] as const;
const DEAD = ['state', '=', 'dead'] as const;
const CURSOR = 'cursor';
/** Number of dead letters that are removed at once. */
const REMOVED_TOGETHER = 1000;

/** `isDurable`: whether the documents outlive the process. */
export function deliveriesIn(
  documents: DocumentStore,
  lock: () => Promise<HeldLock | undefined>,
  { isDurable = true, limits = LIMITS }: { readonly isDurable?: boolean; readonly limits?: DeliveryLimits } = {},
): DeliveryStore {
  const stateOf = async (id: string) => (await documents.list('delivery_states', [['id', '=', id]]))[0]?.body;
  const setState = async (id: string, body: string): Promise<void> => {
    const changedAt = await documents.now();
    await change(documents, 'delivery_states', id, () => ({ id, changedAt, body }));
  };
  const put = async (delivery: StoredDelivery, state: State): Promise<void> => {
    await change(documents, 'deliveries', delivery.id, (found) => found && documentOf(delivery, state));
  };

  /**
   * Returns the room for documents: `has` says whether one more of an API key fits, and `take` takes it. `keys`: those
   * that have only a share of it.
   */
  async function roomFor(where: readonly Condition<Row>[], max: Amount, keys: readonly string[]) {
    const used = await documents.usage('deliveries', where);
    let [count, bytes] = [max.count - used.count, max.bytes - used.bytes];
    const own = new Map<string, Amount>();
    for (const key of keys) own.set(key, await documents.usage('deliveries', [...where, ...whereKey(key)]));
    return {
      has: (key: string, added: number): boolean => {
        const held = own.get(key);
        if (held === undefined) return count >= 1 && bytes >= added;
        return shareOf(count, held.count) >= 1 && shareOf(bytes, held.bytes) >= added;
      },
      take: (key: string, added: number): void => {
        count -= 1;
        bytes -= added;
        const held = own.get(key);
        if (held !== undefined) own.set(key, { count: held.count + 1, bytes: held.bytes + added });
      },
    };
  }

  async function dead(
    wanted: DeadWanted,
    limit: number,
    after: LetterPlace = { position: 0, id: '' },
  ): Promise<Page<StoredDelivery>> {
    const where = whereDead(wanted);
    const max = { limit: limit + 1, isBrief: true };
    const ofEvent = (position: number, id: string) =>
      documents.list('deliveries', [...where, ['position', '=', position], ['id', '>', id]], max);
    const later = [...where, ['position', '>', after.position] as const];
    const next = await documents.list('deliveries', later, { by: 'position', ...max });
    // Not every database orders those about one event, of which the limit may have cut off any.
    const last = next.at(-1)?.position ?? 0;
    const found = [
      ...(await ofEvent(after.position, after.id)),
      ...next.filter(({ position }) => position < last),
      ...(await ofEvent(last, '')),
    ].toSorted(byPlace);
    const shown = upToBytes(found.slice(0, limit), STORED_LIMITS.page.bytes);
    const items = await documents.list('deliveries', [['id', 'in', shown.map(({ id }) => id)], DEAD]);
    // All of them were revived or removed meanwhile: an empty page would end the list.
    if (items.length === 0 && shown.length < found.length) return dead(wanted, limit, shown.at(-1));
    return { items: items.map(deliveryIn).toSorted(byPlace), isCut: shown.length < found.length };
  }

  return {
    isDurable,
    lock,
    cursor: async () => {
      const found = await stateOf(CURSOR);
      return found === undefined ? undefined : Number(found);
    },
    setCursor: (position) => setState(CURSOR, String(position)),
    add: async (deliveries, keysShare) => {
      const sharing = (some: readonly NewDelivery[]) => (keysShare ? keysOf(some) : []);
      const inAll = await roomFor([], limits.all, sharing(deliveries));
      const dropped: NewDelivery[] = [];
      for (const [receiver, ofReceiver] of Map.groupBy(deliveries, (one) => one.receiver)) {
        const where = [ofReceiverOf(receiver), WAITING];
        const rooms = [inAll, await roomFor(where, limits.ofReceiver, sharing(ofReceiver))];
        const kept = ofReceiver.filter((delivery) => {
          const [key, bytes] = [delivery.apiKeyName ?? '', Buffer.byteLength(delivery.event)];
          const fits = rooms.every((room) => room.has(key, bytes));
          if (fits) for (const room of rooms) room.take(key, bytes);
          else dropped.push(delivery);
          return fits;
        });
        await documents.add(
          'deliveries',
          kept.map((one) => documentOf({ ...one, attempts: 0, dueAt: 0, reason: '', status: null }, 'waiting')),
        );
      }
      return dropped;
    },
    waiting: (ofKey) => documents.countBy('deliveries', 'receiver', [WAITING, ...whereKey(ofKey)]),
    buried: (ofKey) => documents.countBy('deliveries', 'receiver', [DEAD, ...whereKey(ofKey)]),
    next: async (receiver, { exceptLanes, upTo, limit }) => {
      const where = [
        ...[ofReceiverOf(receiver), WAITING],
        ...([
          ['lane', 'not in', exceptLanes],
          ['position', '<=', upTo],
        ] as const),
      ];
      return (await documents.list('deliveries', where, { by: 'position', limit })).map(deliveryIn);
    },
    before: async (receiver, time, upTo) => {
      const until = [
        ['position', '<=', upTo],
        ['createdAt', '<', time],
      ] as const;
      const where = [ofReceiverOf(receiver), WAITING, ...until];
      return (await documents.list('deliveries', where, { by: 'position', isBrief: true })).map(({ id }) => id);
    },
    read: async (ids) =>
      (await documents.list('deliveries', [['id', 'in', ids], WAITING], { by: 'position' })).map(deliveryIn),
    retry: (delivery, failed) => put({ ...delivery, ...failed }, 'waiting'),
    remove: async (ids) => void (await documents.remove('deliveries', [['id', 'in', ids]])),
    bury: async (delivery, failed) => {
      await put({ ...delivery, ...failed }, 'dead');
      // Only letters of the same key are removed: other keys may not have read theirs.
      const where = [ofReceiverOf(delivery.receiver), DEAD, ...whereKey(delivery.apiKeyName ?? '')];
      const used = await documents.usage('deliveries', where);
      if (used.count <= limits.dead.count && used.bytes <= limits.dead.bytes) return;
      const oldest = await documents.list('deliveries', where, {
        by: 'position',
        limit: REMOVED_TOGETHER,
        isBrief: true,
      });
      const ids = oldestBeyond(oldest, used, limits.dead).map(({ id }) => id);
      await documents.remove('deliveries', [['id', 'in', ids]]);
    },
    dead,
    revive: async (wanted, { limit, id }) => {
      const where = [...whereDead(wanted), ...(id === undefined ? [] : [['id', '=', id] as const])];
      const found = await documents.list('deliveries', where, { by: 'position', limit, isBrief: true });
      const revived: string[] = [];
      for (const letter of found) {
        const waiting = await change(documents, 'deliveries', letter.id, (now) =>
          now?.state === 'dead' ? documentOf({ ...deliveryIn(now), attempts: 0, dueAt: 0 }, 'waiting') : undefined,
        );
        if (waiting !== undefined) revived.push(waiting.receiver);
      }
      return revived;
    },
    state: stateOf,
    states: async (receivers) => {
      const found = await documents.list('delivery_states', [['id', 'in', receivers]]);
      return new Map(found.map(({ id, body }) => [id, body]));
    },
    setState,
    removeReceiver: async (receiver) => {
      await documents.remove('deliveries', [ofReceiverOf(receiver)]);
      await documents.remove('delivery_states', [['id', '=', receiver]]);
    },
    prune: async (before) => {
      await documents.remove('deliveries', [DEAD, ['createdAt', '<', before]]);
      await documents.remove('delivery_states', [
        ['changedAt', '<', before],
        ['id', 'not in', [CURSOR]],
      ]);
    },
  };
}

/** Returns the first documents, and ends with the one by which they have `max` bytes. */
function upToBytes<D extends Pick<StoredDocument, 'bytes'>>(documents: readonly D[], max: number): readonly D[] {
  let bytes = 0;
  const last = documents.findIndex((document) => {
    bytes += document.bytes;
    return bytes >= max;
  });
  return last === -1 ? documents : documents.slice(0, last + 1);
}

function byPlace(one: LetterPlace, other: LetterPlace): number {
  return one.position - other.position || (one.id < other.id ? -1 : 1);
}

/** Returns the names of the API keys, without that of deliveries that no named key made. */
function keysOf(deliveries: readonly NewDelivery[]): readonly string[] {
  return [...new Set(deliveries.flatMap(({ apiKeyName }) => apiKeyName ?? []))];
}

function ofReceiverOf(receiver: string): readonly ['receiver', '=', string] {
  return ['receiver', '=', receiver];
}

function whereDead({ receiver, isPrefix, ofKey }: DeadWanted): readonly Condition<Row>[] {
  const ofReceiver: readonly Condition<Row>[] = isPrefix
    ? [
        ['receiver', '>', receiver],
        ['receiver', '<', `${receiver}\u{10ffff}`],
      ]
    : [ofReceiverOf(receiver)];
  return [...ofReceiver, DEAD, ...whereKey(ofKey)];
}

function documentOf(delivery: StoredDelivery, state: State): Document<Row> {
  const { id, receiver, apiKeyName, lane, position, createdAt, dueAt, ...content } = delivery;
  return {
    ...{ id, apiKey: apiKeyName ?? '', receiver, lane, state, position, createdAt, dueAt },
    body: JSON.stringify(content satisfies Content),
  };
}

function deliveryIn({ body, apiKey, ...row }: StoredDocument<Row>): StoredDelivery {
  const content: Content = JSON.parse(body);
  const { id, receiver, lane, position, createdAt, dueAt } = row;
  return { id, receiver, apiKeyName: apiKey === '' ? null : apiKey, lane, position, createdAt, dueAt, ...content };
}
