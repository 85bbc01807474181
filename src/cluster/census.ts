import type { Link } from './connection.ts';
import { Announcement, decode, encode } from './messages.ts';
import type { Subjects } from './subjects.ts';

/** Interval of announcements in milliseconds: the figures are at most this old. */
const INTERVAL_MS = 1_000;
/** Number of missed announcements after which a process counts as gone. */
const MISSED = 3;

export interface CensusOptions {
  readonly link: Link;
  readonly subjects: Subjects;
  /** Returns what this process announces: as an api node, as a worker, or both. */
  readonly own: () => readonly Announcement[];
}

/** The processes of the cluster, by the announcements that each sends once a second. */
export class Census {
  readonly #link: Link;
  readonly #subjects: Subjects;
  readonly #own: () => readonly Announcement[];
  readonly #heard = new Map<string, { readonly said: Announcement; readonly at: number }>();
  readonly #timer: NodeJS.Timeout;

  constructor({ link, subjects, own }: CensusOptions) {
    this.#link = link;
    this.#subjects = subjects;
    this.#own = own;
    link.subscribe(subjects.alive, ({ data }) => this.#hear(decode(Announcement, data)));
    link.observe((isUp) => {
      if (isUp) this.#announce();
    });
    this.#timer = setInterval(() => this.#announce(), INTERVAL_MS);
    this.#timer.unref();
  }

  /** The newest announcements, including those of this process. */
  get announced(): readonly Announcement[] {
    const oldest = performance.now() - INTERVAL_MS * MISSED;
    const own = this.#own();
    const others = [...this.#heard.values()].filter(({ said, at }) => {
      if (at < oldest) this.#heard.delete(keyOf(said));
      return at >= oldest && own.every((one) => keyOf(one) !== keyOf(said));
    });
    return [...own, ...others.map(({ said }) => said)];
  }

  /** Announces to the other processes that this one ends. */
  stop(): void {
    clearInterval(this.#timer);
    for (const { name } of this.#own()) this.#link.publish(this.#subjects.alive, encode({ kind: 'gone', name }));
  }

  #announce(): void {
    for (const announcement of this.#own()) this.#link.publish(this.#subjects.alive, encode(announcement));
  }

  #hear(said: Announcement): void {
    if (said.kind === 'gone') {
      this.#heard.delete(`node ${said.name}`);
      this.#heard.delete(`worker ${said.name}`);
    } else this.#heard.set(keyOf(said), { said, at: performance.now() });
  }
}

function keyOf({ kind, name }: Announcement): string {
  return `${kind} ${name}`;
}
