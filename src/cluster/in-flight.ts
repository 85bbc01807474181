import {
  type InFlight,
  type InFlightList,
  type InFlightWanted,
  wantedInFlight,
} from '../capture/operation/in-flight.ts';
import type { Census } from './census.ts';
import type { Link } from './connection.ts';
import { decode, encode, encodeWithin, FromPeer, MAX_SMALL_BYTES, ToPeer } from './messages.ts';

/** Time limit for another api node's answer, in milliseconds. */
const ANSWER_MS = 1_000;

interface InFlightOptions {
  readonly link: Link;
  /** Name of this api node. */
  readonly name: string;
  /** Generates the captures that this api node admitted, oldest first. */
  readonly own: () => Iterable<InFlight>;
  readonly census: Pick<Census, 'otherNodes'>;
}

/** The captures in flight of all api nodes: each answers for those that it admitted. */
export class ClusterInFlight {
  readonly #options: InFlightOptions;

  constructor(options: InFlightOptions) {
    this.#options = options;
    const { link, name } = options;
    link.subscribe(link.subjects.ask(name), (message) => {
      const wanted = decode(ToPeer, message.data, MAX_SMALL_BYTES);
      message.respond(this.#encoded(this.#own(wanted)));
    });
  }

  async list(wanted: InFlightWanted): Promise<InFlightList> {
    const { link, name, census } = this.#options;
    const isAsked = (node: string) => wanted.node === undefined || wanted.node === node;
    const asked = census.otherNodes.map((node) => node.name).filter(isAsked);
    const answers = await Promise.all(asked.map((node) => this.#ask(node, wanted)));
    const found = [...(isAsked(name) ? this.#own(wanted) : []), ...answers.flatMap((captures) => captures ?? [])];
    const captures = found.sort((one, other) => ageOf(other) - ageOf(one)).slice(0, wanted.limit);
    const silent = asked.filter((_node, at) => answers[at] === undefined);
    if (!link.isUp) return { captures, missing: `NATS cannot be reached: only the api node ${name} was asked.` };
    return { captures, missing: silent.length === 0 ? '' : `No answer from the api nodes ${silent.join(', ')}.` };
  }

  #own(wanted: InFlightWanted): InFlight[] {
    const { own, name } = this.#options;
    return wantedInFlight(own(), wanted).map((capture) => ({ ...capture, node: name }));
  }

  /** Leaves out the newest captures when a message cannot carry all. */
  #encoded(captures: InFlight[]): Uint8Array {
    return (
      encodeWithin(this.#options.link.maxPayload, { captures }) ?? this.#encoded(captures.slice(0, captures.length / 2))
    );
  }

  /** Returns the captures of another api node; undefined when it does not answer. */
  async #ask(node: string, { limit, requestId, ofKey }: InFlightWanted): Promise<readonly InFlight[] | undefined> {
    const { link } = this.#options;
    try {
      const { data } = await link.request(link.subjects.ask(node), encode({ limit, requestId, ofKey }), ANSWER_MS);
      return decode(FromPeer, data).captures;
    } catch {
      return undefined;
    }
  }
}

/** Milliseconds since the capture was admitted. The clocks of nodes differ, so times are not compared. */
function ageOf({ waited_ms: waited, running_ms: running }: InFlight): number {
  return waited + running;
}
