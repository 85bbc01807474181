import type { CaptureCommand } from '../capture/command.ts';
import type { CaptureOutcome } from '../capture/outcome.ts';

/** A capture that this api node has queued, from before its ticket is published until its outcome is known. */
export class Ticket {
  readonly command: CaptureCommand;
  readonly subject: string;
  readonly placeSubject: string;
  /** Whether it is an element of a batch or a job, which waits for room in the queue instead of being refused. */
  readonly isElement: boolean;
  /** Resolves when the pipeline waits for the capture's turn. */
  readonly entered = Promise.withResolvers<void>();
  /** Resolves when the capture has ended at this api node, and its last event was emitted. */
  readonly left = Promise.withResolvers<void>();
  /** The ticket's sequence number in the stream; 0 while it is not known, undefined while the stream has no ticket. */
  sequence: number | undefined;
  /** Whether the stream has confirmed the ticket. */
  isPublished = false;
  /** The sequence number of its place, likewise. Elements have none. */
  place: number | undefined;
  /** The worker that runs the capture. */
  worker: string | undefined;
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

  constructor(command: CaptureCommand, subject: string, placeSubject: string, isElement: boolean) {
    this.command = command;
    this.subject = subject;
    this.placeSubject = placeSubject;
    this.isElement = isElement;
  }

  enter(begin: () => void): void {
    this.begin = begin;
    this.entered.resolve();
  }
}
