import type { Link } from './connection.ts';
import { type Announcement, AnyAnnouncement, decode, encode, MAX_SMALL_BYTES } from './messages.ts';
import type { NodeLoad } from './shares.ts';

/** Interval of announcements in milliseconds: the figures are at most this old. */
const INTERVAL_MS = 1_000;
/** Minimum interval of announcements that are sent at once, in milliseconds. */
const AT_ONCE_MS = 100;
/** Number of missed announcements after which a process counts as gone. */
const MISSED = 3;

interface CensusOptions {
  readonly link: Link;
  /** Returns what this process announces: as an api node, as a worker, or both. */
  readonly own: () => readonly Announcement[];
}

type NodeAnnouncement = Announcement & { readonly kind: 'node' };
type WorkerAnnouncement = Announcement & { readonly kind: 'worker' };

interface Heard<A> {
  readonly said: A;
  readonly at: number;
}

/** The processes of the cluster, by the announcements that each sends once a second. */
export class Census {
  readonly #link: Link;
  readonly #own: () => readonly Announcement[];
  readonly #nodes = new Map<string, Heard<NodeAnnouncement>>();
  readonly #workers = new Map<string, Heard<WorkerAnnouncement>>();
  readonly #timer: NodeJS.Timeout;
  #announcedAt = 0;

  constructor({ link, own }: CensusOptions) {
    this.#link = link;
    this.#own = own;
    link.subscribe(link.subjects.alive, ({ data }) => {
      const said = decode(AnyAnnouncement, data, MAX_SMALL_BYTES);
      if (said !== undefined) this.#hear(said);
    });
    link.observe((isUp) => {
      if (isUp) this.#announce();
    });
    this.#timer = setInterval(() => this.#announce(), INTERVAL_MS);
    this.#timer.unref();
  }

  /** The newest announcements, including those of this process. */
  get announced(): readonly Announcement[] {
    return [...this.#own(), ...this.otherNodes, ...this.#newest(this.#workers)];
  }

  get otherNodes(): readonly NodeAnnouncement[] {
    return this.#newest(this.#nodes);
  }

  get otherLoads(): readonly NodeLoad[] {
    return this.otherNodes.map(({ running, waiting, items }) => ({
      singles: running + waiting - items,
      items,
    }));
  }

  /** Names of the api nodes that are running, this one included. */
  get nodeNames(): readonly string[] {
    return this.announced.filter(({ kind }) => kind === 'node').map(({ name }) => name);
  }

  /** The workers that are there. */
  get workers(): readonly WorkerAnnouncement[] {
    return this.announced.filter((one) => one.kind === 'worker');
  }

  /** Slots of the workers that are there. */
  get slots(): number {
    return this.workers.reduce((sum, { slots }) => sum + slots, 0);
  }

  /** Announces this process now, if it did not just do so. */
  announceAtOnce(): void {
    if (performance.now() - this.#announcedAt >= AT_ONCE_MS) this.#announce();
  }

  /** Announces to the other processes that this one ends. */
  stop(): void {
    clearInterval(this.#timer);
    for (const { name } of this.#own()) this.#link.publish(this.#link.subjects.alive, encode({ kind: 'gone', name }));
  }

  #announce(): void {
    this.#announcedAt = performance.now();
    for (const announcement of this.#own()) this.#link.publish(this.#link.subjects.alive, encode(announcement));
  }

  #hear(said: Announcement): void {
    if (said.kind === 'gone') {
      this.#nodes.delete(said.name);
      this.#workers.delete(said.name);
    } else if (this.#own().some(({ name }) => name === said.name)) return;
    else if (said.kind === 'node') this.#nodes.set(said.name, { said, at: performance.now() });
    else this.#workers.set(said.name, { said, at: performance.now() });
  }

  #newest<A>(heard: Map<string, Heard<A>>): readonly A[] {
    const oldest = performance.now() - INTERVAL_MS * MISSED;
    const newest: A[] = [];
    for (const [name, { said, at }] of heard) {
      if (at >= oldest) newest.push(said);
      else heard.delete(name);
    }
    return newest;
  }
}
