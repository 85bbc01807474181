import type { CaptureCommand } from '../capture/command.ts';
import type { CaptureOutcome } from '../capture/outcome.ts';
import { ticketOf } from './subjects.ts';

/** A capture that this api node has queued, from before its ticket is published until its outcome is known. */
export class Ticket {
  readonly command: CaptureCommand;
  /** The subject of its message, which names its capture, unless it was exchanged. */
  subject: string;
  readonly placeSubject: string;
  /** Whether it is an item of a batch or a job, which waits for room in the queue instead of being refused. */
  readonly isItem: boolean;
  /** Resolves when the pipeline waits for the capture's turn. */
  readonly entered = Promise.withResolvers<void>();
  isEntered = false;
  /** Resolves when the capture has ended at this api node, and its last event was emitted. */
  readonly left = Promise.withResolvers<void>();
  /** The ticket's sequence number in the stream; 0 while it is not known, undefined while the stream has no ticket. */
  sequence: number | undefined;
  /** Whether the stream has confirmed the ticket. */
  isPublished = false;
  /** The sequence number of its place, likewise. Items have none. */
  place: number | undefined;
  /** The worker that runs the capture. */
  worker: string | undefined;
  /** Number of times that it was passed on to the worker that holds its connection. */
  passes = 0;
  /** Number of workers that have claimed the capture. */
  claims = 0;
  /** Workers that were lost while they ran the capture. */
  lost = 0;
  /** Deadline of the capture, on the clock of `performance.now`. Set when a worker first claims it. */
  deadline: number | undefined;
  /** Starts the capture in the pipeline. */
  begin: () => void = () => {};
  /** Ends the capture with its outcome. */
  settle: (outcome: CaptureOutcome) => void = () => {};

  constructor(command: CaptureCommand, subject: string, placeSubject: string, isItem: boolean) {
    this.command = command;
    this.subject = subject;
    this.placeSubject = placeSubject;
    this.isItem = isItem;
  }

  enter(begin: () => void): void {
    this.begin = begin;
    this.isEntered = true;
    this.entered.resolve();
  }

  /** Whether it waits for a worker that claims it for the first time. */
  get isWaiting(): boolean {
    const { isPublished, isEntered, worker, claims, command } = this;
    return isPublished && isEntered && worker === undefined && claims === 0 && !command.signal.aborted;
  }

  /** The id of the capture that its message names. */
  get named(): number {
    return ticketOf(this.subject).id;
  }

  /** Exchanges its message with that of another one: the worker that takes it gets the other capture. */
  exchange(other: Ticket): void {
    [this.subject, other.subject] = [other.subject, this.subject];
    [this.sequence, other.sequence] = [other.sequence, this.sequence];
  }
}
