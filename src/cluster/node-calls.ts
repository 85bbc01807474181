import { setTimeout as delay } from 'node:timers/promises';
import type { CaptureOutcome } from '../capture/outcome.ts';
import type { Link } from './connection.ts';
import { decode, encode, encodeWithin, FromNode, type ReportedOutcome, type ToNode } from './messages.ts';

/** Time limit for an api node's answer, in milliseconds. */
const NODE_TIMEOUT_MS = 3_000;
/** Time limit for reporting an outcome to an api node that does not answer although NATS does, in milliseconds. */
const REPORT_MS = 15_000;
const REPORT_PAUSE_MS = 500;

/** A worker's requests and reports to the api nodes of its tickets. */
export class NodeCalls {
  readonly #link: Link;
  readonly #worker: string;

  /** `worker`: its name. */
  constructor(link: Link, worker: string) {
    this.#link = link;
    this.#worker = worker;
  }

  /** Claims a ticket; undefined when its api node cannot be reached. */
  claim(node: string, id: number): Promise<FromNode | undefined> {
    return this.#ask(node, { type: 'claim', id, worker: this.#worker }).catch(() => undefined);
  }

  /** Tells the api node that this worker stops, so that another one gets the ticket. */
  async giveBack(node: string, id: number): Promise<void> {
    await this.#ask(node, { type: 'return', id, worker: this.#worker }).catch(() => undefined);
  }

  /** Sends the result of a dial. */
  tell(node: string, message: ToNode & { readonly type: 'reached' | 'undialled' }): void {
    this.#link.publish(this.#link.subjects.node(node), encode(message));
  }

  /**
   * Reports an outcome until the api node has confirmed it. While NATS is away, that may take any time. Returns `busy`
   * when the ticket is still needed, `gone` when the node does not wait for it, and undefined when the node does not
   * answer although NATS does, or once `isOver`.
   */
  async report(
    node: string,
    id: number,
    outcome: CaptureOutcome,
    isOver: () => boolean = () => false,
  ): Promise<'noted' | 'busy' | 'gone' | undefined> {
    const report = this.#reportOf(id, outcome);
    let silentSince: number | undefined;
    for (;;) {
      try {
        const { type } = await this.#send(node, report);
        return type === 'noted' || type === 'busy' ? type : 'gone';
      } catch {
        silentSince = this.#link.isUp ? (silentSince ?? performance.now()) : undefined;
        if (silentSince !== undefined && performance.now() - silentSince > REPORT_MS) return undefined;
        if (isOver()) return undefined;
        await delay(REPORT_PAUSE_MS);
      }
    }
  }

  /** Omits evidence that is too large for a message: it is in the result store. */
  #reportOf(id: number, outcome: CaptureOutcome): Uint8Array {
    const report = (reported: ReportedOutcome): ToNode => ({
      type: 'report',
      id,
      worker: this.#worker,
      outcome: reported,
    });
    if (outcome.state !== 'stored') return encode(report(outcome));
    const whole = encodeWithin(this.#link.maxPayload, report({ ...outcome, isEvidenceStored: false }));
    return whole ?? encode(report({ ...outcome, evidence: null, isEvidenceStored: true }));
  }

  #ask(node: string, question: ToNode): Promise<FromNode> {
    return this.#send(node, encode(question));
  }

  async #send(node: string, body: Uint8Array): Promise<FromNode> {
    const { data } = await this.#link.request(this.#link.subjects.node(node), body, NODE_TIMEOUT_MS);
    return decode(FromNode, data);
  }
}
